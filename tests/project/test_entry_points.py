"""What pyproject.toml declares is what is installed, and every entry point leads to what it should."""

from __future__ import annotations

import re
import tomllib

import pytest

from kedge.core.errors import MissingExtraError
from kedge.core.plugins import GROUPS, Plugin, found
from kedge.engine.plugin_states import FITS
from tests.support.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
DECLARED = {
    (group, name): value for group, entries in PROJECT["entry-points"].items() for name, value in entries.items()
}
OWN = [plugin for group in GROUPS for plugin in found(group).values() if plugin.own]


def test_the_installed_metadata_is_that_of_the_project() -> None:
    """Where this fails, run `pip install -e .` again."""
    shown = {(one.group, one.name): f"{one.target} [{one.extra}]".removesuffix(" []") for one in OWN}
    assert shown == DECLARED


def test_the_extras_that_they_name_exist() -> None:
    named = {extra for value in DECLARED.values() for extra in re.findall(r"\[(.+)\]", value)}
    assert named <= PROJECT["optional-dependencies"].keys()


@pytest.mark.parametrize("plugin", OWN, ids=lambda plugin: f"{plugin.group}/{plugin.name}")
def test_every_one_leads_somewhere(plugin: Plugin) -> None:
    try:
        plugin.load(FITS[plugin.group])
    except MissingExtraError as error:
        pytest.skip(str(error))
