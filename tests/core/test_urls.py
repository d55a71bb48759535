"""No password or key is shown, whatever it looks like and wherever its address goes wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.core.errors import KedgeError
from kedge.core.settings import Settings, load_settings
from kedge.core.urls import mask_url
from kedge.stores import registry
from kedge.stores.vectors.milvus.address import read_address
from kedge.stores.vectors.qdrant.address import QdrantAddress

SECRET = "s3cret"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("", ""),
        ("qdrant://localhost:6333", "qdrant://localhost:6333"),
        ("sqlite:////srv/kedge/catalog.db", "sqlite:////srv/kedge/catalog.db"),
        ("qdrant://:s3cret@host:6333/x", "qdrant://***@host:6333/x"),
        ("redis://s3cret@host", "redis://***@host"),
        ("postgresql://u:s3cret/x@y@host/db", "postgresql://***@host/db"),
        ("redis://user:s3cret", "redis://user:***"),
        ("redis://user:s3cret/0", "redis://user:***/0"),
        ("redis://[::1]:6379/0", "redis://[::1]:6379/0"),
        ("u:s3cret@host/db", "u:***@host/db"),
        ("endpoint:http://u:s3cret@host/v1?api=tei", "endpoint:***@host/v1?api=tei"),
        ("postgresql://h/db?user=u&password=s3cret&sslmode=on", "postgresql://h/db?user=u&password=***&sslmode=on"),
        ("milvus://h?Token=s3cret", "milvus://h?Token=***"),
        ("qdrant://h?api_key=s3cret", "qdrant://h?api_key=***"),
        ("host=h password=s3cret dbname=x", "host=h password=*** dbname=x"),
    ],
)
def test_masked_urls(url: str, shown: str) -> None:
    assert mask_url(url) == shown


@given(st.text(min_size=1).map(lambda text: f"<{text}>"))
def test_no_password_survives(password: str) -> None:
    assert password not in mask_url(f"postgresql://user:{password}@host:5432/db")


OPENERS: dict[str, Callable[[Settings], Any]] = {
    "catalog_url": registry.open_catalog,
    "vector_url": registry.open_vectors,
    "graph_url": registry.open_graph,
    "cache_url": registry.open_cache,
}
SCHEMES = {
    "catalog_url": ("postgresql",),
    "vector_url": ("postgresql", "qdrant", "milvus", "iris"),
    "graph_url": ("postgresql", "neo4j"),
    "cache_url": ("redis", "rediss"),
}
BROKEN = (
    "{scheme}://user:{secret}@127.0.0.1:port/x",
    "{scheme}://user:{secret}@[::1",
    "{scheme}://user:{secret}@/x?fly=1",
    "{scheme}://user:{secret}",
    "{scheme}://user:x/{secret}@127.0.0.1:1/x",
    "{scheme}://user:x@{secret}@127.0.0.1:1/x?connect_timeout=1",
    "//user:{secret}@host",
    "host=h password={secret}",
)


def _said(opener: Callable[[Settings], Any], settings: Settings) -> str:
    """The error, if there is one: some stores are asked on first use only."""
    try:
        asyncio.run(opener(settings).close())
    except KedgeError as error:
        return f"{error} {error.as_json()}"
    return ""


@pytest.mark.parametrize("setting", OPENERS)
@pytest.mark.parametrize("broken", BROKEN)
def test_no_error_about_an_address_shows_its_password(setting: str, broken: str) -> None:
    for scheme in SCHEMES[setting]:
        settings = load_settings(environ={}, **{setting: broken.format(scheme=scheme, secret=SECRET)})
        assert SECRET not in _said(OPENERS[setting], settings)
        assert SECRET not in repr(settings)
        assert SECRET not in str(settings.shown())


def test_keys_in_settings_are_hidden() -> None:
    settings = load_settings(environ={"KEDGE_VECTOR_KEY": SECRET, "KEDGE_EMBED_KEY": SECRET})
    assert SECRET not in repr(settings) + str(settings.shown()) + str(settings.model_dump(mode="json"))


def test_the_vector_key_goes_to_the_client_and_wins_over_the_url() -> None:
    assert QdrantAddress.of("qdrant://host", "k").options["api_key"] == "k"
    assert QdrantAddress.of("qdrant://host", "k").options["https"] is True
    assert QdrantAddress.of("qdrant://:old@host?https=0", "k").options["api_key"] == "k"
    assert "api_key" not in QdrantAddress.of("qdrant://host").options
    milvus = read_address("milvus://me:old@host", "k")
    assert (milvus.token, milvus.user, milvus.password) == ("k", "", "")
    assert SECRET not in repr(read_address(f"milvus://me:{SECRET}@host", SECRET))
