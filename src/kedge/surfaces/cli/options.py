"""The options that stand before and behind every command. Light: `kedge --help` loads no more than this."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

HomeOption = Annotated[Path | None, typer.Option("--home", help="Folder that holds everything (KEDGE_HOME).")]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON value on stdout; notes go to stderr.")]
ConfigOption = Annotated[Path | None, typer.Option("--config", help="TOML file with settings (KEDGE_CONFIG).")]
AsOption = Annotated[
    str | None,
    typer.Option("--as", help="See what somebody else may read, such as user:ann,group:board; the owner sees all."),
]


@dataclass(frozen=True, slots=True)
class Globals:
    """The global options as given at one place of the command line."""

    home: Path | None = None
    json: bool = False
    config: Path | None = None
    acting: str | None = None

    def over(self, other: Globals) -> Globals:
        """These, completed by those given earlier."""
        return Globals(
            self.home or other.home,
            self.json or other.json,
            self.config or other.config,
            self.acting if self.acting is not None else other.acting,
        )
