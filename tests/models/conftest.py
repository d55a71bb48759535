"""Fixtures of the model tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.models.model_server import ModelServer, serving


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving() as state:
        yield state
