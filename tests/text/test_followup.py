"""Follow-up questions: what is put in the place of what, what is kept beside, and what is left alone."""

from __future__ import annotations

import pytest

from kedge.answer.conversation.asking import resolve_among
from kedge.text.followup import EarlierTurn, follow, main_topics, needs_context

REPLACED = [
    # places, periods, names, things: the phrase of the same sort gives way
    (
        "How many bikes were sold in Lisbon in May 2022?",
        "And in Porto?",
        "How many bikes were sold in Porto in May 2022?",
    ),
    (
        "How many bikes were sold in Lisbon in May 2022?",
        "And in June?",
        "How many bikes were sold in Lisbon in June 2022?",
    ),
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
    (
        "How much leave do full-time employees get?",
        "and part-time employees?",
        "How much leave do part-time employees get?",
    ),
    (
        "How do I set a timeout for one call?",
        "And for every call of a client?",
        "How do I set a timeout for every call of a client?",
    ),
    ("What does the Basic plan cost per month?", "And the Pro plan?", "What does the Pro plan cost per month?"),
    ("What does the Basic plan cost per month?", "per year?", "What does the Basic plan cost per year?"),
    ("How fast is a lookup with a hash index?", "and without an index?", "How fast is a lookup without an index?"),
    ("Which train goes to Ghent on Sunday?", "And to Bruges?", "Which train goes to Bruges on Sunday?"),
    ("When does the museum open in summer?", "and in winter?", "When does the museum open in winter?"),
    ("What was Maria Keller's salary in 2019?", "And Tom Brandt's?", "What was Tom Brandt's salary in 2019?"),
    ("Who is the CEO of Nestlé?", "And the CFO?", "Who is the CFO of Nestlé?"),
    ("What was the GDP of Spain in 2019?", "And Portugal?", "What was the GDP of Portugal in 2019?"),
    ("What is the boiling point at 2000 m?", "And at 4000 m?", "What is the boiling point at 4000 m?"),
    ("Are dogs allowed in the park?", "What about cats?", "Are cats allowed in the park?"),
    ("How do I sort a list in Python?", "What about a dict?", "How do I sort a dict in Python?"),
    # pronouns and what stands for the topic
    ("When was the Vasa Museum opened?", "Who designed it?", "Who designed the Vasa Museum?"),
    ("What does the function load_rows do?", "What does it return?", "What does the function load_rows return?"),
    ("What is the Louvre Pyramid made of?", "How tall is it?", "How tall is the Louvre Pyramid?"),
    ("What are sourdough starters?", "How do I feed them?", "How do I feed sourdough starters?"),
    ("How is the Delta Works barrier closed?", "When was it built?", "When was the Delta Works barrier built?"),
    # other languages
    (
        "Wie viele Räder wurden 2022 in Lissabon verkauft?",
        "Und in Porto?",
        "Wie viele Räder wurden 2022 in Porto verkauft?",
    ),
    ("¿Cuánto costó la reforma en 2021?", "¿Y en 2022?", "¿Cuánto costó la reforma en 2022?"),
    ("Comment installer le client pour macOS ?", "Et pour Windows ?", "Comment installer le client pour Windows ?"),
    ("Which museums in Oslo are free?", "And in Bergen?", "Which museums in Bergen are free?"),
    (
        "How many hours of lectures does module 2 have?",
        "And module 3?",
        "How many hours of lectures does module 3 have?",
    ),
    ("How many eggs go into the sponge cake?", "and into the brioche?", "How many eggs go into the brioche?"),
    ("What is the notice period for managers?", "And for interns?", "What is the notice period for interns?"),
    ("What is the notice period for managers?", "what about interns?", "What is the notice period for interns?"),
    ("What was Acme's revenue in 2022?", "And Globex's?", "What was Globex's revenue in 2022?"),
    ("What was Acme's revenue in 2022?", "And the year before?", "What was Acme's revenue in 2021?"),
    ("What was Acme's revenue in 2022?", "and in the following year?", "What was Acme's revenue in 2023?"),
    ("Who won the 100 metres in Tokyo?", "And the 200 metres?", "Who won the 200 metres in Tokyo?"),
    (
        "How long is the battery life of the Aero 5?",
        "How about the Aero 7?",
        "How long is the battery life of the Aero 7?",
    ),
    ("How do I log in with a password?", "And with a key?", "How do I log in with a key?"),
    ("What is the maximum speed of the X200?", "How much does it weigh?", "How much does the X200 weigh?"),
    ("Where was Marie Curie born?", "When did she die?", "When did Marie Curie die?"),
    ("Where was Marie Curie born?", "And Pierre Curie?", "Where was Pierre Curie born?"),
    ("Who founded Globex?", "When did they go public?", "When did Globex go public?"),
    ("When is the next ferry to Elba?", "How long does it take?", "How long does the next ferry to Elba take?"),
    ("How do I proof the dough in winter?", "in summer?", "How do I proof the dough in summer?"),
    (
        "What is the deadline for the tax return?",
        "Can it be extended?",
        "Can the deadline for the tax return be extended?",
    ),
    ("How do I export a report as PDF?", "As CSV?", "How do I export a report as CSV?"),
    ("How do I export a report as PDF?", "and as CSV?", "How do I export a report as CSV?"),
    ("Which trains run on Saturdays?", "And on Sundays?", "Which trains run on Sundays?"),
    ("How much did the bakery earn in Q1 2021?", "And in Q2?", "How much did the bakery earn in Q2 2021?"),
    ("How much did the bakery earn in Q1 2021?", "What about Q3 2022?", "How much did the bakery earn in Q3 2022?"),
    ("What are the symptoms of measles?", "And of mumps?", "What are the symptoms of mumps?"),
    ("What are the symptoms of measles?", "How are they treated?", "How are measles treated?"),
    (
        "Who is the director of the HR department?",
        "And of the legal department?",
        "Who is the director of the legal department?",
    ),
    ("What did the study find?", "Who paid for it?", "Who paid for the study?"),
    ("What does the class Pool do?", "Is it thread-safe?", "Is the class Pool thread-safe?"),
    ("What does the class Pool do?", "Does that class lock?", "Does the class Pool lock?"),
    ("Combien de jours de congé en 2022 ?", "Et en 2023 ?", "Combien de jours de congé en 2023 ?"),
]
KEPT = [
    ("What percentage of women passed the exam in 2018?", "And men?"),
    ("Does aspirin interact with warfarin?", "And ibuprofen?"),
    ("How much protein is in 100 g of lentils?", "And in chickpeas?"),
    ("Which chapter covers recursion?", "And which one covers graphs?"),
    ("Who was the first president of the club?", "Who was the second?"),
    ("What happens if I miss the exam?", "What if I'm ill?"),
    ("What is the operating temperature of the pump?", "And its pressure?"),
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
    ("Does the warranty cover water damage?", "and scratches?"),
    ("how do i log in with a password", "and without one?"),
    ("What is the maximum speed of the X200?", "And its weight?"),
    ("What is the capital of Peru?", "How many people live there?"),
    ("Which restaurants are in Lyon?", "What are their opening hours?"),
    ("What does the --force flag do?", "And --dry-run?"),
    ("How many goals did Silva score in 2019?", "How many did he score in 2020?"),
    ("What is the difference between Basic and Pro?", "Which one is cheaper?"),
    ("Compare the ferry with the train.", "which is faster?"),
    ("Is the pool open on Sundays?", "why not?"),
    ("How does the scheduler pick a worker?", "Can I change that?"),
    ("Was kostet der Tarif Basis im Monat?", "Und der Tarif Plus?"),
    ("¿Quién dirige la oficina de Lima?", "¿Y la de Quito?"),
    ("Wie installiere ich das Programm?", "Warum?"),
]
ALONE = [
    "What if I lose my badge in the lift?",
    "Who came second in the race of 1990?",
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
    "And what is the boiling point of ethanol at sea level?",
    "What should an employee do when they are sick?",
    "How does curl store its cookies?",
    "What does Python do with its cache?",
    "Who won the cup that year's hosts lost?",
    "for loops in python",
    "in-place upgrade",
    "What do I do when it rains during the race?",
    "How do I get the lid off a jar without breaking it?",
    "Did the band change its name?",
    "Why do cats purr when they sleep?",
    "Can the tenant paint the walls if he asks first?",
    "So what is a kedge?",
    "But who pays for the repairs of the roof?",
    "Is that possible with Redis?",
    "on call schedule march",
    "What is it like to live in Oslo?",
    "Which of these is a mammal: whale or shark?",
    "Why is it that bread gets stale?",
    "How much does it cost to replace a key?",
    "If it is raining, is the market open?",
    "Who was the first person to say that they saw it?",
    "Tell me about the museum and its collection.",
    "What are the effects of caffeine on sleep?",
    "What are the reasons for the delay of line 4?",
]


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
    assert resolved == f"{question[:1].upper()}{question[1:]} (about: {before})"


@pytest.mark.parametrize("question", ALONE)
def test_a_question_that_stands_by_itself_is_left_alone(question: str) -> None:
    before = EarlierTurn("Who wrote Hamlet in London?", names=("William Shakespeare",), topics=("Hamlet",))
    assert follow(question, before) == question
    assert not needs_context(question)


@pytest.mark.parametrize(
    ("questions", "alone"),
    [
        (
            ["How many bikes were sold in Lisbon in 2022?", "And in Porto?", "and in 2021?"],
            "How many bikes were sold in Porto in 2021?",
        ),
        (["Who designed the Vasa Museum?", "When was it opened?", "How tall is it?"], "How tall is the Vasa Museum?"),
        (
            ["What were tram fares in 2022?", "What caused the rise?", "And in 2021?"],
            "What were tram fares in 2021?",
        ),
        (
            ["What were tram fares in 2022?", "What caused the rise?", "Why?"],
            "Why? (about: What were tram fares in 2022? What caused the rise?)",
        ),
        (
            ["What is a kedge?", "Who invented the bowline?", "When was that?"],
            "When was that? (about: Who invented the bowline?)",
        ),
        (["", "What is a kedge?", "What is it used for?"], "What is the kedge used for?"),
    ],
)
def test_a_chain_leans_on_what_was_understood_before(questions: list[str], alone: str) -> None:
    *earlier, question = questions
    assert resolve_among(question, earlier) == alone


def test_what_would_be_too_long_is_asked_as_it_is() -> None:
    assert resolve_among("Why?", ["word " * 390]) == "Why? (about: " + ("word " * 390).strip()[:600] + ")"
    assert len(resolve_among("And in Porto " + "x" * 1990 + "?", ["What was sold in Lisbon?"])) <= 2100


def test_what_a_question_is_about() -> None:
    assert main_topics("When was the Treaty of Lisbon signed?")[0] == "Treaty of Lisbon"
    assert main_topics("") == ()
