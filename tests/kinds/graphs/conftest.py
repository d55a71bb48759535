"""A small family graph, and a blocking Kedge on a fresh home with the fast deterministic embedder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kedge import Kedge

FAMILY = """subject\trelation\tobject
ada\tfather\tlord_byron
ada\tmother\tannabella_milbanke
ada\tspouse\twilliam_king
ada\tprofession\tmathematician
lord_byron\tplace_of_birth\tlondon
lord_byron\tprofession\tpoet
annabella_milbanke\tplace_of_birth\tkirkby_mallory
william_king\tnationality\tunited_kingdom
william_king\tprofession\tpolitician
london\tcountry\tengland
kirkby_mallory\tcountry\tengland
augusta_leigh\tfather\tjohn_byron
lord_byron\tfather\tjohn_byron
john_byron\tplace_of_birth\tplymouth
"""


@pytest.fixture
def family(tmp_path: Path) -> Path:
    path = tmp_path / "family.tsv"
    path.write_text(FAMILY, "utf-8")
    return path


@pytest.fixture
def kedge(tmp_path: Path) -> Iterator[Kedge]:
    with Kedge(tmp_path / "home", embedder="hash:64", collection="g") as opened:
        yield opened
