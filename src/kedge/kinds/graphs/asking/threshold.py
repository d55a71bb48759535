"""How near a node must be to a question for its text to be read: a similarity that means the same with every model.

Models spread their cosines differently: 0.4 is near for one and what unlike texts have for another. So a few pairs of a
question and a text that answers it are embedded once, and the threshold stands between what they have and what a
question has with the texts of the others.
"""

from __future__ import annotations

import numpy as np

from kedge.models.ports import Embedder

GIVEN = {"text-embedding-3-small": 0.7}
"""Models whose threshold the design names."""
SHARE = 0.55
"""Where the threshold stands between a question's likeness to foreign texts and to those that answer it."""
PAIRS = (
    ("Who painted the ceiling of the chapel?", "Bellori: the painter who decorated the chapel's ceiling with angels."),
    ("What is a sextant?", "Sextant: an instrument that measures the angle between a star and the horizon."),
    (
        "Which plant grows in salt marshes?",
        "Samphire: a fleshy plant of coasts and salt marshes, eaten as greens.",
    ),
    ("Which machine can I use to press oil?", "Expeller: a screw press that squeezes oil from seeds without solvents."),
    ("Who led the strike of the dockers?", "Tom Harrow: a union man who led the dockers through the long strike."),
    ("What does the customs office do?", "Customs office: it checks goods at the border and collects duties."),
    ("Which lake feeds the canal?", "Lake Orm: the reservoir whose water feeds the northern canal."),
    ("Tell me about the tax on windows", "Window tax: houses were taxed by the number of their windows until 1851."),
)
"""A question, and a node's text that answers it."""


async def node_threshold(embedder: Embedder) -> float:
    """The least similarity for this model, from 0 to 1."""
    for name, given in GIVEN.items():
        if embedder.name.endswith(name):
            return given
    questions = np.stack([await embedder.embed_query(question) for question, _ in PAIRS])
    cosines = questions @ np.asarray(await embedder.embed([text for _, text in PAIRS])).T
    own = float(np.median(np.diag(cosines)))
    foreign = float(np.quantile(cosines[~np.eye(len(PAIRS), dtype=bool)], 0.9))
    return float(np.clip(foreign + SHARE * (own - foreign), 0.0, 1.0))
