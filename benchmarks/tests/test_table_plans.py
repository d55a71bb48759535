"""Training of readings: tables are kept out whole, weights move towards what is right, trees say what they learned."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import numpy as np
import pytest

from benchmarks.table_plans.figures import Outcome, figures, reliability, type_of
from benchmarks.table_plans.fit import fit_weights, learn_vocabulary
from benchmarks.table_plans.prepare import prepare
from benchmarks.table_plans.questions import QuestionedTable, TableQuestion, held_out, read_questions
from benchmarks.table_plans.second import lines_of
from benchmarks.table_plans.trees import fit_trees

ROWS = [["Ada", "UK", "3"], ["Bo", "US", "5"], ["Cy", "UK", "9"]]


def tables(count: int) -> list[QuestionedTable]:
    asked = (
        TableQuestion("q1", "how many people are from the uk?", ("2",)),
        TableQuestion("q2", "who has the most points?", ("Cy",)),
        TableQuestion("q3", "how many points does bo have?", ("5",)),
    )
    return [QuestionedTable(f"t{number}", ["Name", "Country", "Points"], ROWS, asked) for number in range(count)]


def test_tables_are_kept_out_whole_and_the_same_each_time() -> None:
    made = tables(10)
    assert held_out(made) == held_out(list(reversed(made)))
    assert len(held_out(made)) == 2


def test_an_archive_is_read_with_its_escapes(tmp_path: Path) -> None:
    files = {
        "training.tsv": "id\tutterance\tcontext\ttargetValue\nnt-1\twho\\n?\tcsv/1.csv\ta\\pb|c\n",
        "csv/1.csv": '"A","B"\n"say \\"hi\\"","2"\n',
    }
    path = tmp_path / "made.tar.xz"
    with tarfile.open(path, "w:xz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    (table,) = read_questions(path)
    assert (table.names, table.rows) == (["A", "B"], [['say "hi"', "2"]])
    assert table.questions[0].answer == ("a|b", "c")


def test_weights_learn_which_candidates_are_right() -> None:
    questions = prepare(tables(4), frozenset(), 1)
    assert all(one.reachable for one in questions)
    vocabulary = learn_vocabulary(questions)
    weights = fit_weights(questions, vocabulary)
    lines = lines_of(questions, weights, vocabulary, ["how many"])
    assert all(one.right[0] for one in lines)


def test_trees_tell_what_they_learned() -> None:
    random = np.random.default_rng(0)
    rows = random.random((2000, 3))
    rows[::7, 1] = np.nan
    right = rows[:, 0] > 0.5
    trees = fit_trees(rows, right, count=40, depth=2)
    chances = trees(rows)
    assert chances[right].mean() > 0.8
    assert chances[~right].mean() < 0.2


def test_figures_count_the_sure_and_the_right() -> None:
    outcomes = [
        Outcome("a", "how many?", 0.9, True, True, 1.0),
        Outcome("b", "who was first?", 0.8, False, True, 2.0),
        Outcome("c", "which?", 0.1, False, False, 3.0),
        Outcome("d", "is it?", 0.3, True, True, 4.0),
    ]
    told = figures(outcomes, 0.7)
    assert (told["best_reading_right"], told["sure"], told["sure_and_right"]) == (0.5, 0.5, 0.25)
    assert told["right_of_sure"] == 0.5
    assert sum(count for _, _, count in reliability(outcomes)) == 4
    assert [type_of(one.text) for one in outcomes] == ["count", "order", "look-up", "yes or no"]


@pytest.mark.parametrize("text", ["", "?", "how"])
def test_every_text_has_a_type(text: str) -> None:
    assert type_of(text)
