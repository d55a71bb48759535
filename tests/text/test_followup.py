"""Follow-up questions: what is put in the place of what, what is kept beside, and what is left alone."""

from __future__ import annotations

import pytest

from kedge.text.followup import EarlierTurn, follow, main_topics, needs_context

REPLACED = [
    # places, periods, names, things: the phrase of the same sort gives way
    ("How many bikes were sold in Lisbon in May 2022?", "And in Porto?", "How many bikes were sold in Porto in May 2022?"),
    ("How many bikes were sold in Lisbon in May 2022?", "And in June?", "How many bikes were sold in Lisbon in June 2022?"),
    ("How many bikes were sold in Lisbon in 2022?", "And in 2021?", "How many bikes were sold in Lisbon in 2021?"),
    ("What was the rent of the Berlin office in 2020?", "in 2021?", "What was the rent of the Berlin office in 2021?"),
    ("How do I install the client on macOS?", "What about Windows?", "How do I install the client on Windows?"),
    ("How do I install the client on macOS?", "and on linux", "How do I install the client on linux?"),
    ("how do i renew a parking permit", "and a library card?", "how do i renew a library card"),
    ("Who teaches Spanish on Mondays?", "And on Thursdays?", "Who teaches Spanish on Thursdays?"),
    ("Who teaches Spanish on Mondays?", "What about French?", "Who teaches French on Mondays?"),
    ("What is the capital of Peru?", "And of Chile?", "What is the capital of Chile?"),
    ("What is the capital of Peru?", "How about Bolivia?", "What is the capital of Bolivia?"),
    ("How long do I bake the rye bread?", "And the baguette?", "How long do I bake the baguette?"),
    ("How much leave do full-time employees get?", "and part-time employees?", "How much leave do part-time employees get?"),
    ("How do I set a timeout for one call?", "And for every call of a client?", "How do I set a timeout for every call of a client?"),
    ("What does the Basic plan cost per month?", "And the Pro plan?", "What does the Pro plan cost per month?"),
    ("What does the Basic plan cost per month?", "per year?", "What does the Basic plan cost per year?"),
    ("How fast is a lookup with a hash index?", "and without an index?", "How fast is a lookup without an index?"),
    ("Which train goes to Ghent on Sunday?", "And to Bruges?", "Which train goes to Bruges on Sunday?"),
    ("When does the museum open in summer?", "and in winter?", "When does the museum open in winter?"),
    ("What was Maria Keller's salary in 2019?", "And Tom Brandt's?", "What was Tom Brandt's salary in 2019?"),
    # pronouns and what stands for the topic
    ("When was the Vasa Museum opened?", "Who designed it?", "Who designed the Vasa Museum?"),
    ("What does the function load_rows do?", "What does it return?", "What does the function load_rows return?"),
    ("What is the Louvre Pyramid made of?", "How tall is it?", "How tall is the Louvre Pyramid?"),
    ("What are sourdough starters?", "How do I feed them?", "How do I feed sourdough starters?"),
    ("How is the Delta Works barrier closed?", "When was it built?", "When was the Delta Works barrier built?"),
    # other languages
    ("Wie viele Räder wurden 2022 in Lissabon verkauft?", "Und in Porto?", "Wie viele Räder wurden 2022 in Porto verkauft?"),
    ("¿Cuánto costó la reforma en 2021?", "¿Y en 2022?", "¿Cuánto costó la reforma en 2022?"),
    ("Comment installer le client pour macOS ?", "Et pour Windows ?", "Comment installer le client pour Windows ?"),
]  # fmt: skip
KEPT = [
    ("How is the Delta Works barrier closed?", "When was that built?"),
    # nothing can be put in a place with confidence: the follow-up, and the question it leans on
    ("What were tram fares in the second half of 2022?", "what caused the rise?"),
    ("How many students dropped out during the course?", "how many of those were in their first year?"),
    ("What is the width of the outer ring?", "And the inner one?"),
    ("When did the first edition of the handbook come out?", "and its predecessor?"),
    ("What is the price of the Model 3 and the Ioniq 5?", "Which of them is cheaper?"),
    ("Did the city council approve the stadium?", "Why not?"),
    ("How do I prepare the dough for focaccia?", "and then?"),
    ("List the three phases of the audit.", "What happens in the second one?"),
    ("What does the parser raise on bad input?", "Can I turn that off?"),
    ("What was the turnout in the 2018 election?", "And in the one before?"),
]
ALONE = [
    "Who invented the bowline?",
    "install on windows",
    "reset password",
    "What is a kedge and how is it used?",
    "How long does it take to anchor?",
    "Is it possible to undo a merge?",
    "If a train is late, when can I claim money for it?",
    "And how do I measure the depth of the harbour in Porto?",
    "Why does Python cache small integers and when does it free them?",
    "What happens to passengers when they miss their connection?",
    "Which of the two parsers, lxml or html5lib, is faster?",
    "How do I make the scheduler stop when it is idle?",
    "What is the difference between a list and a tuple?",
    "Is there a rule?",
    "Does the museum have its own parking?",
    "What does it mean that cancellation is level triggered?",
    "How do employees report their hours?",
    "Who is the author of the book that won in 1984?",
    "What do I do if the printer says that it is offline?",
    "I lost my badge. How do I replace it?",
    "vacation policy part-time",
    "Which countries rejected the treaty before it was changed?",
    "The lamp blinks. What does that mean?",
    "How much did Apple sell in Japan in 2021?",
]


def words(text: str) -> set[str]:
    return {word.strip("?.,:;()¿").lower() for word in text.split()} - {""}


@pytest.mark.req("D-15")
@pytest.mark.parametrize(("before", "question", "alone"), REPLACED)
def test_what_is_of_the_same_sort_gives_way(before: str, question: str, alone: str) -> None:
    assert needs_context(question)
    assert follow(question, EarlierTurn(before)) == alone


@pytest.mark.req("D-15")
@pytest.mark.parametrize(("before", "question"), KEPT)
def test_where_nothing_fits_both_questions_are_kept(before: str, question: str) -> None:
    assert needs_context(question)
    resolved = follow(question, EarlierTurn(before))
    assert words(before) | words(question) <= words(resolved) | {"it", "its", "that", "them", "those", "which"}


@pytest.mark.parametrize("question", ALONE)
def test_a_question_that_stands_by_itself_is_left_alone(question: str) -> None:
    before = EarlierTurn("Who wrote Hamlet in London?", names=("William Shakespeare",), topics=("Hamlet",))
    assert follow(question, before) == question
    assert not needs_context(question)
