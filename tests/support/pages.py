"""The pages of the documentation as commands: what they tell a reader to type, and what they show in return."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


@dataclass
class Typed:
    """A command, or a script of several, as a page has it."""

    text: str
    script: bool = False
    shown: list[str] = field(default_factory=list)
    """Lines below it; `…` stands for anything."""

    def missing(self, said: str) -> list[str]:
        """Lines that should have been said, each after the one before, and were not."""
        place, missing = 0, []
        for line in filter(str.strip, self.shown):
            pattern = ".*".join(re.escape(part) for part in line.strip().split("…"))
            found = re.compile(pattern).search(said, place)
            if found is None:
                missing.append(line)
            else:
                place = found.end()
        return missing


def typed(page: Path) -> list[Typed]:
    """All that a page has in `console` and `sh` blocks, in order."""
    found: list[Typed] = []
    for indent, language, body in FENCE.findall(page.read_text("utf-8")):
        lines = [line.removeprefix(indent) for line in body.splitlines()]
        if language == "sh":
            found.append(Typed("\n".join(lines), script=True))
        elif language == "console":
            for line in lines:
                if line.startswith("$ "):
                    found.append(Typed(line.removeprefix("$ ")))
                elif found:
                    found[-1].shown.append(line)
    return found
