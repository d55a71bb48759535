"""The container files, as far as they can be checked without a container engine: shape, names, ports, secrets."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from kedge.core.plugins import STORES, found
from kedge.core.settings import Settings
from tests.support.paths import ROOT

PASSWORD = "0123456789abcdef"
KEYS = {
    "build",
    "command",
    "configs",
    "depends_on",
    "environment",
    "expose",
    "healthcheck",
    "image",
    "ports",
    "profiles",
    "restart",
    "volumes",
}
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
PAGE = (ROOT / "docs" / "how-to" / "stores.md").read_text("utf-8")
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")


def interpolated(text: str, **given: str) -> str:
    """As Compose fills in `${NAME}`, `${NAME:-default}` and `${NAME:?message}`; the innermost first."""
    given = {"STORE_PASSWORD": PASSWORD, **given}

    def value(match: re.Match[str]) -> str:
        name, default = match.group(1), match.group(2)
        return given.get(name) or default or ""

    while (filled := re.sub(r"(?<!\$)\$\{(\w+)(?::[-?]([^${}]*))?\}", value, text)) != text:
        text = filled
    return text


def documented() -> dict[str, tuple[str, set[int], str]]:
    """Service → profile, ports and volume, from the table in the docs."""
    rows = re.findall(r"^\| `(\w+)` \| (\S+) \| ([^|]+) \| (\S+) \|", PAGE, re.MULTILINE)
    return {
        name: (profile.strip("`"), {int(port) for port in re.findall(r"\d+", ports)}, volume.strip("`"))
        for name, profile, ports, volume in rows
    }


def ports_of(service: dict[str, Any]) -> set[int]:
    published = [interpolated(port) for port in service.get("ports", [])]
    return {int(port) for port in service.get("expose", [])} | {int(port.rpartition(":")[2]) for port in published}


def test_the_services_are_those_of_the_docs() -> None:
    assert documented().keys() == SERVICES.keys()
    for name, (profile, ports, volume) in documented().items():
        service = SERVICES[name]
        assert service.get("profiles", []) == ([] if profile == "–" else [profile, "full"])
        assert ports_of(service) == ports, name
        assert [mount.partition(":")[0] for mount in service.get("volumes", [])] == ([] if volume == "–" else [volume])


def test_shape() -> None:
    assert COMPOSE.keys() <= {"name", "services", "volumes", "configs", "x-kedge"}
    used = {mount.partition(":")[0] for service in SERVICES.values() for mount in service.get("volumes", [])}
    assert used == set(COMPOSE["volumes"])
    for name, service in SERVICES.items():
        assert service.keys() <= KEYS, name
        assert service["restart"] == "unless-stopped"
        assert set(service.get("depends_on", {})) <= SERVICES.keys()
        assert {config["source"] for config in service.get("configs", [])} <= COMPOSE["configs"].keys()
        if "build" not in service:
            assert re.fullmatch(r"[\w/.-]+:v?[a-z]*\d[\w.-]*", service["image"]), f"{name} has no version"


def test_every_server_has_a_health_check() -> None:
    for name, service in SERVICES.items():
        check = service["healthcheck"]
        if name == "worker":  # it listens on nothing
            assert check == {"disable": True}
            continue
        assert check["test"][0] in ("CMD", "CMD-SHELL")
        assert {"interval", "timeout", "retries"} <= check.keys()
        assert all(re.fullmatch(r"\d+s", str(check[key])) for key in check.keys() - {"test", "retries"})


def test_what_others_are_waited_for_is_always_started() -> None:
    for service in SERVICES.values():
        for name, how in service.get("depends_on", {}).items():
            assert how == {"condition": "service_healthy"}
            assert "profiles" not in SERVICES[name]


def test_only_kedge_is_published_and_only_on_loopback() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["kedge"]
    (port,) = SERVICES["kedge"]["ports"]
    assert interpolated(port) == "127.0.0.1:8000:8000"


def test_there_is_no_password_in_the_file_and_none_by_default() -> None:
    text = (ROOT / "compose.yaml").read_text("utf-8")
    assert "${STORE_PASSWORD:?" in text
    for line in re.findall(r"(?i)^.*(?:password|api_key|_auth):.*$", text, re.MULTILINE):
        assert "${STORE_PASSWORD" in line
    assert "STORE_PASSWORD:-" not in text


@pytest.mark.parametrize("name", ["kedge", "worker"])
def test_the_settings_exist_and_lead_to_services(name: str) -> None:
    given = {key.removeprefix("KEDGE_").lower(): str(value) for key, value in SERVICES[name]["environment"].items()}
    assert given.keys() <= Settings.model_fields.keys()
    filled = {key: interpolated(value) for key, value in given.items()}
    Settings(**{key: value for key, value in filled.items() if value})  # type: ignore[arg-type]
    for url in (filled["catalog_url"], filled["vector_url"]):
        _leads_to_a_service(url)
    assert filled["graph_url"] == filled["cache_url"] == filled["vector_key"] == ""


def test_the_urls_in_the_docs_lead_to_services() -> None:
    block = re.search(r"```sh\n(KEDGE_VECTOR_URL=.*?)```", PAGE, re.DOTALL)
    assert block
    lines = [line.partition("  #")[0].strip() for line in block.group(1).splitlines()]
    given = [line.partition("=")[::2] for line in lines]
    assert {name.removeprefix("KEDGE_").lower() for name, _ in given} <= Settings.model_fields.keys()
    urls = [interpolated(value) for name, value in given if name.endswith("_URL")]
    assert {urlsplit(url).hostname for url in urls} == {"qdrant", "milvus", "neo4j", "redis"}
    for url in urls:
        _leads_to_a_service(url)


def _leads_to_a_service(url: str) -> None:
    parts = urlsplit(url)
    assert parts.port in ports_of(SERVICES[parts.hostname or ""]), url
    assert parts.password in (None, PASSWORD)
    extras = {one.extra for name, one in found(STORES).items() if name.partition(".")[2] == parts.scheme}
    assert extras, url
    assert extras <= _extras(), f"the image has no driver for {parts.scheme}"


def _extras() -> set[str]:
    found = re.search(r"'\.\[([\w,]+)\]'", DOCKERFILE)
    assert found
    return set(found.group(1).split(","))


def test_the_image_is_built_from_what_there_is_and_does_not_run_as_root() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert _extras() <= project["optional-dependencies"].keys()
    copied = [
        name for line in re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE) for name in line.split()
    ]
    let_in = [line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")]
    assert sorted(copied) == sorted(let_in)
    assert all((ROOT / name).exists() for name in copied)
    last = DOCKERFILE.rpartition("\nFROM ")[2]
    assert re.search(r"^USER (?!root|0)\d+:\d+$", last, re.MULTILINE)  # a number: orchestrators see it is not root
    assert "HEALTHCHECK" in last
    home = re.search(r"KEDGE_HOME=(\S+)", last)
    volume = re.search(r"^VOLUME (\S+)$", last, re.MULTILINE)
    assert home is not None
    assert volume is not None
    assert Path(volume[1]) in Path(home[1]).parents  # a home that is a mount itself could not be replaced by a restore
    assert project["scripts"]["kedge"]
    assert 'ENTRYPOINT ["kedge"]' in last


def test_the_overview_names_every_store_and_page() -> None:
    pages = {path.name for path in (ROOT / "docs" / "how-to").glob("stores-*.md")}
    assert set(re.findall(r"\]\((stores-\w+\.md)\)", PAGE)) == pages
    table = PAGE.partition("## Keys")[0]
    extras = {one.extra for one in found(STORES).values()}
    assert set(re.findall(r"\| `(\w+)` \| [^|]+\|$", table, re.MULTILINE)) == extras - {""}
