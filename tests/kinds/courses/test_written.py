"""A language model may write what is asked of a course, as for any documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from kedge import Kedge
from tests.models.llm_server import serving

FACT = "A lidar measures distance with light pulses."


@pytest.mark.req("D-14", "G-10")
def test_a_model_writes_from_lessons_and_it_streams(tmp_path: Path) -> None:
    lesson = tmp_path / "course" / "01-basics" / "01-sensors.md"
    lesson.parent.mkdir(parents=True)
    lesson.write_text(f"# Sensors\n\n{FACT}\n", "utf-8")
    with serving() as model:
        model.say = lambda _system, _user: f"{FACT} [1] It was invented on Mars in 1999. [1]"
        with Kedge(tmp_path / "home", collection="c", llm="openai:test", llm_url=f"{model.url}/v1") as kedge:
            kedge.ingest(tmp_path / "course", kind="course")
            answer = kedge.ask("What does a lidar measure distance with?")
            assert answer.answer == f"{FACT} [1]"
            assert isinstance(answer.metadata["generation"], dict)
            streamed = list(kedge.stream("What does a lidar measure distance with?"))
            assert "".join(event.content or "" for event in streamed) == answer.answer
            assert [event.type for event in streamed][-2:] == ["metadata", "done"]
