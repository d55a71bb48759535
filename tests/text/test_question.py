"""What a question asks for and which names it insists on."""

from __future__ import annotations

import pytest

from kedge.text.question import parse_question


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("When was the treaty signed?", "date"),
        ("since when is the pool open", "date"),
        ("Do you know when the shop opens?", "date"),
        ("In what year did the mill burn down?", "date"),
        ("My order is late. When will it arrive?", "date"),
        ("FrozenError vs OtherError: when do I get which?", "text"),
        ("What happens when the token expires?", "text"),
        ("What do I do when the printer jams?", "text"),
        ("when to use a mutex", "text"),
        ("How do I stop the pump when the tank is full?", "text"),
        ("When the server is down, who do I call?", "name"),
        ("How long does drying take when it rains?", "number"),
        ("What was Acme's revenue in 2022?", "number"),
        ("How big was the bill?", "number"),
        ("What share of the votes came by post?", "number"),
        ("What were ticket sales in May?", "number"),
        ("Give me the price of the Pro plan.", "number"),
        ("operating income of Northern Europe in q2 2023", "number"),
        ("What is a gross margin?", "text"),
        ("Who had the highest salary?", "name"),
        ("Tell me who signed the lease.", "name"),
        ("I want to export my data, how?", "text"),
        ("Summarise when and why the war began.", "text"),
        ("Compare the sales of Acme with the sales of Ajax.", "text"),
    ],
)
def test_what_is_asked_for(text: str, kind: str) -> None:
    assert parse_question(text, lambda term: 1.0).kind == kind


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("How do I reset the pump?", set()),
        ("Can I pay, and How?", set()),
        ("What did Acme spend on R&D in 2020?", {"acm", "2020"}),
        ("What caused the drop? (about: What were Mac sales in 2023?)", {"mac", "2023"}),
        ("I'm in Porto and I've lost my card, what do I do?", {"porto"}),
    ],
)
def test_what_an_answer_cannot_do_without(text: str, names: set[str]) -> None:
    assert parse_question(text, lambda term: 1.0).names == names
