"""What form of answer a question wants, in the words and spellings that people type."""

from __future__ import annotations

import pytest

from kedge.text.asked import asked_part
from kedge.text.form import Form, shape_of

FORMS = {
    "fact": """
        Who wrote Hamlet?
        what is a kedge
        What is focal length in the pinhole model?
        When did the war end or begin?
        Did the revenue of the ferry go up or down last year?
        Is the new engine faster or slower now?
        are the maps drawn before or after the survey
        Has the share of repairs increased or decreased?
        where is the key to the chart room kept
        In which order does the library store the coefficients?
        Which class do I use for a proxy?
        who signed the lease on behalf of the tenant
        install on windows
        release date of version 2.4
        what does the flag --strict mean
        What happens when the token expires?
        what is net income
        what is a slotted class?
        Tell me who maintains the parser.
        whose idea was the night shift
        which file holds the settings
        which works better on wet rope
        opening hours library saturday
        May 2020 newsletter
    """,
    "number": """
        How many employees did the branch in Porto have in 2021?
        how much salt per litre of brine
        how long does dough have to rest
        What was Acme's revenue in 2022?
        How big was the bill for repairs?
        What share of the votes came by post?
        what percentage of students passed
        operating income of Northern Europe in q2 2023
        Net interest margin, third quarter 2023?
        Tell me the average price the club paid per ticket.
        What were bicycle sales in the first half of the year?
        what is the default timeout
        what's the maximum file size for uploads
        What did the tram line bring in over the first nine months?
        how old do you have to be to join
        How many types of anchors are there?
        In the July report, how much of the debt falls due in 2026?
        With caching, how many calls does it take to load the page?
        give me the total cost of the roof
        what is our current headcount
        What effective tax rate did the company report?
        how often are backups made
        what does a replacement card cost
    """,
    "yes-no": """
        Is the lounge open on Sundays?
        can i bring my dog to the office
        does the warranty cover water damage
        Are certificates checked by default?
        do I get paid for overtime
        Will the old API be removed one day?
        Did coffee significantly cut deaths in that cohort?
        If I freeze a class, can its instances go in a set?
        is it possible to undo a merge
        am i allowed to work from abroad
        Has the treaty been ratified?
        should rice be washed before cooking
        hi, is parking free?
        I lost my badge. Can I still get in?
        Do you know if the shuttle runs on holidays?
        Don't we need a permit for that?
        may I swap shifts with a colleague
        Can we move up or down a grade?
        Is the count more or less stable?
        Is the gate closed or not?
        Is Python 3.8 or later required?
        Do I need anything other than a passport?
        does it take more than 5 minutes
    """,
    "how": """
        How do I reset my password?
        how to descale the coffee machine
        How can I tell whether the yeast is dead?
        how does the clutch work
        I want to run the tests in parallel, how?
        My class needs a room for 40 people. What do I do?
        My scale always reads too heavy. How do I fix that kind of error?
        what's the best way to store fresh basil
        what should i do if the printer jams
        Explain how the sieve finds primes.
        walk me through the onboarding
        is there a way to export all contacts
        steps to renew a passport
        i need to change my bank details
        could you tell me how to book a desk
        How was a cup of coffee defined in the study?
        how do i compare two strings in a template
        what is the procedure for claiming travel costs
    """,
    "why": """
        Why did sales in Europe fall?
        why use atan2 rather than arctan
        What made revenue go up in the June quarter?
        what caused the outage on friday
        how come the bread did not rise
        What is the reason for the two-step login?
        I see a rate of 21 % in the filing, yet far less was paid. What main reason does it give?
        Why can't comparing hashes be trusted completely?
        explain why the loop runs backwards
        what's the point of a lockfile
        reason for the delay of line 4
        For what reason was the clause removed?
    """,
    "list": """
        List the three datasets the benchmark is built from.
        Name every officer who had a trading plan in place.
        What types of anchors are there?
        which operations does a heap support
        Which six skills do I have to show before module 2?
        what are the ingredients of a bechamel
        which countries count as Nordic
        who are the members of the board
        give me three examples of compound tenses
        Name the recommended libraries for Redis and MySQL.
        what do i need to bring to the interview
        What are the advantages of nylon?
        examples of irregular verbs
        Which methods are generated by order=True?
        what exceptions can the parser raise
        show me all public holidays in Bavaria
        what documents do I need for a visa
        please list the stops of tram 4
        Could you list the side effects?
        enumerate the phases of the moon
    """,
    "summary": """
        Summarise the treaty.
        summarize what the study concluded
        Tell me about the bowline.
        sum up the philosophy of the framework in a few lines
        Explain simulated annealing in a few sentences.
        give me an overview of the pension scheme
        what is the report about
        tl;dr of the retention policy
        main points of the 2021 review
        Describe the harbour of Gdańsk.
        Can you summarise chapter 3?
        what do we know about the founder
    """,
    "comparison": """
        My graph has negative weights. Dijkstra or Bellman-Ford?
        bowline vs sheet bend
        compare tea with coffee
        what's the difference between a manager and a lead
        should i use tabs or spaces
    """,
}
CASES = [(kind, line.strip()) for kind, lines in FORMS.items() for line in lines.splitlines() if line.strip()]


@pytest.mark.parametrize(("kind", "question"), CASES)
def test_the_form_of_a_question(kind: str, question: str) -> None:
    assert shape_of(question).kind == kind


@pytest.mark.parametrize(
    ("kind", "question"),
    [
        ("number", "Wie viele Urlaubstage habe ich?"),
        ("why", "Warum fährt die Linie 4 nicht?"),
        ("how", "Wie kann ich mein Passwort ändern?"),
        ("fact", "Wer hat den Vertrag unterschrieben?"),
        ("comparison", "Was ist der Unterschied zwischen Brutto und Netto?"),
        ("number", "¿Cuántos días dura el curso?"),
        ("why", "¿Por qué subió el precio?"),
        ("how", "¿Cómo cambio mi contraseña?"),
        ("fact", "¿Dónde está la llave?"),
        ("number", "Combien coûte le billet ?"),
        ("how", "Comment installer le logiciel ?"),
        ("fact", "Qui a écrit ce roman ?"),
        ("fact", "谁写了这本书？"),
        ("why", "为什么天空是蓝色的？"),
        ("number", "这座城市有多少人？"),
        ("fact", "Kto napisał tę książkę?"),
    ],
)
def test_other_languages_are_facts_unless_it_is_clear(kind: str, question: str) -> None:
    assert shape_of(question).kind == kind


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("move_on_after or fail_after, what is the difference?", ("move_on_after", "fail_after")),
        (
            "HTTP proxy versus HTTPS proxy when the target is HTTPS: what happens in each?",
            ("HTTP proxy", "HTTPS proxy"),
        ),
        ("FrozenError vs OtherError: when do I get which?", ("FrozenError", "OtherError")),
        ("Compare the ferry with the night train", ("the ferry", "the night train")),
        ("Linear sieve or classic sieve: compare running time and memory.", ("Linear sieve", "classic sieve")),
        ("Revolute and prismatic joints: what is the variable of each?", ("Revolute", "prismatic joints")),
        ("explain the diffrence between accuracy and precision", ("accuracy", "precision")),
        ("My graph has negative edge weights. Dijkstra or Bellman-Ford?", ("Dijkstra", "Bellman-Ford")),
        ("how do leasing and renting differ", ("leasing", "renting")),
        ("which is cheaper, the day pass or single tickets?", ("the day pass", "single tickets")),
        ("is soy milk healthier than oat milk", ("soy milk", "oat milk")),
        ("when should I use a list instead of a tuple?", ("a list", "a tuple")),
        ("what distinguishes a lake from a pond", ("a lake", "a pond")),
        ("how does the Basic plan compare to the Pro plan?", ("the Basic plan", "the Pro plan")),
        ("do i need a visa or a residence permit?", ("a visa", "a residence permit")),
        ("is a gross salary the same as a net salary", ("a gross salary", "a net salary")),
        ("¿Cuál es la diferencia entre un lago y un estanque?", ("un lago", "un estanque")),
        ("Quelle est la différence entre le brut et le net ?", ("le brut", "le net")),
    ],
)
def test_the_sides_of_a_comparison(question: str, sides: tuple[str, str]) -> None:
    assert shape_of(question) == Form("comparison", sides)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("Hello, where is the exit?", "where is the exit?"),
        ("When the server is down, who do I call?", "who do I call?"),
        ("I use Windows 11. Can I still install it?", "Can I still install it?"),
        ("When was it built, and by whom?", "When was it built, and by whom?"),
        ("please tell me the price", "the price"),
        ("harbour fees 2024", "harbour fees 2024"),
    ],
)
def test_the_part_that_asks(text: str, part: str) -> None:
    assert asked_part(text) == part
