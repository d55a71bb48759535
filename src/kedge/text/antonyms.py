"""Pairs of English words that deny each other: a question about the *first* is not answered by the *last*.

Only plain, frequent pairs; a missing pair costs little, a wrong one would refuse good answers.
"""

from __future__ import annotations

from kedge.text.analyze import words

_PAIRS = """
first last, before after, early late, earliest latest, earlier later, prior subsequent, precede succeed,
precedes succeeds, begin end, began ended, start end, started ended, started stopped, open close,
opened closed, born died, birth death, increase decrease, increased decreased, increase reduce,
increased reduced, increase decline, increased declined, rise fall, rose fell, raise lower, raised lowered,
expand shrink, expanded reduced, gain lose, gained lost, win lose, won lost, victory defeat, victory loss,
success failure, succeeded failed, successful unsuccessful, advantage disadvantage, accept reject,
accepted rejected, accepted refused, agree refuse, agreed refused, allow prohibit, allow forbid,
allowed banned, allowed prohibited, include exclude, included excluded, support oppose, supported opposed,
join leave, joined left, enter leave, entered left, arrive leave, arrived left, attack defend, create destroy,
created destroyed, built destroyed, unite divide, united divided, buy sell, bought sold, import export,
ally enemy, friend enemy, more less, more fewer, most least, many few, always never, majority minority,
major minor, maximum minimum, common rare, common uncommon, large small, larger smaller, largest smallest,
high low, higher lower, highest lowest, long short, longest shortest, above below, strong weak,
stronger weaker, good bad, better worse, best worst, positive negative, rich poor, fast slow, faster slower,
fastest slowest, expensive cheap, hot cold, old new, older newer, oldest newest, oldest youngest,
modern ancient, north south, northern southern, east west, eastern western, inside outside, internal external,
domestic foreign, public private, formal informal, direct indirect, legal illegal, necessary unnecessary,
dependent independent, permanent temporary, urban rural, directed undirected, weighted unweighted,
winter summer, day night, male female, men women, king queen, father mother, son daughter, brother sister,
husband wife
"""


def _table() -> dict[str, frozenset[str]]:
    opposites: dict[str, set[str]] = {}
    for pair in _PAIRS.split(","):
        left, right = pair.split()
        opposites.setdefault(left, set()).add(right)
        opposites.setdefault(right, set()).add(left)
    return {word: frozenset(others) for word, others in opposites.items()}


OPPOSITES = _table()
"""From a word to the words that deny it."""


def contradicts(question: str, sentence: str) -> bool:
    """Whether `sentence` says the opposite of a word in `question` that it does not say itself."""
    said = set(words(sentence))
    return any(word not in said and not OPPOSITES.get(word, frozenset()).isdisjoint(said) for word in words(question))
