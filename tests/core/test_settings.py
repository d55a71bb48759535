"""Settings are validated at the start, and every fault is named at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from kedge import Kedge
from kedge.core.errors import ConfigError
from kedge.core.settings import Settings, load_settings, without_effect
from kedge.stores import registry
from kedge.surfaces.cli.main import run


def faults(file: Path | None = None, environ: dict[str, str] | None = None, **given: object) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load_settings(file, environ or {}, registry.faults, **given)
    listed = caught.value.details["faults"]
    assert isinstance(listed, list)
    assert all(str(fault) in caught.value.message for fault in listed)
    assert caught.value.hint
    return [str(fault) for fault in listed]


def test_all_kinds_of_faults_from_all_places_at_once(tmp_path: Path) -> None:
    file = tmp_path / "kedge.toml"
    file.write_text(
        'embeder = "minilm"\nthreshold = "high"\nfly = true\nmax_upload_bytes = 2_000_000_000\n'
        'llm_url = "localhost:11434"\nvector_url = "chroma://x"\n[server]\nport = 1\n',
        "utf-8",
    )
    environ = {"KEDGE_PORT": "70000", "KEDGE_LOG_LEVL": "info", "KEDGE_CHANNELS": "vector,smell", "KEDGE_OTHER": "x"}
    found = faults(file, environ, reranker="magic", workers=-1)
    expected = {
        "embeder: there is no such setting, did you mean embedder?": str(file),
        "threshold: Input should be a valid number": str(file),
        "fly: there is no such setting": str(file),
        "server: there is no such setting": str(file),
        "port: Input should be less than or equal to 65535": "the environment",
        "channels.1: Input should be": "the environment",
        "KEDGE_LOG_LEVL in the environment is no setting, did you mean KEDGE_LOG_LEVEL?": "",
        "max_upload_bytes: it is above max_source_bytes": "",
        "llm_url: it has to begin with http": "",
        "vector_url: there is no 'chroma', known are edge, iris": "",
        "reranker: there is no 'magic', known are default, none": "",
        "workers: Input should be greater than or equal to 0": "",
    }
    for beginning, place in expected.items():
        (fault,) = [one for one in found if one.startswith(beginning)]
        assert place in fault
    assert len(found) == len(expected)


def test_a_file_that_cannot_be_read_does_not_hide_the_rest(tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text("port = = 1", "utf-8")
    for name, said in (("broken.toml", "not valid TOML"), ("missing.toml", "cannot be read")):
        found = faults(tmp_path / name, {"KEDGE_PORT": "x"})
        assert len(found) == 2
        assert said in found[0]
        assert found[1].startswith("port:")


def test_files_of_the_home_are_no_cache(tmp_path: Path) -> None:
    (fault,) = faults(home=tmp_path, embed_cache=tmp_path / "catalog.db")
    assert fault.startswith("embed_cache:")


def test_no_fault_shows_a_secret(tmp_path: Path) -> None:
    environ = {"KEDGE_CATALOG_URL": "oracle://me:hunter2@host/db", "KEDGE_LLM_URL": "ftp://me:hunter2@host"}
    assert "hunter2" not in " ".join(faults(environ=environ, llm_key=7, vector_url="kedge_s3cret@host://"))


def test_the_command_line_and_the_library_say_it_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KEDGE_EMBEDDER", "minilmm")
    monkeypatch.setenv("KEDGE_LLM", "gpt")
    code = run(["serve", "--home", str(tmp_path / "home"), "--json"])
    error = json.loads(capsys.readouterr().out)["error"]
    assert (code, error["code"]) == (2, "invalid_config")
    assert [fault.partition(":")[0] for fault in error["details"]["faults"]] == ["embedder", "llm"]
    with pytest.raises(ConfigError, match=r"embedder.*llm"):
        Kedge(tmp_path / "home")
    assert not (tmp_path / "home").exists()


names = st.sampled_from(list(Settings.model_fields))


@given(st.dictionaries(names, st.text(st.characters(exclude_categories=["Cs"]), max_size=12)))
def test_any_environment_gives_settings_or_named_faults(values: dict[str, str]) -> None:
    environ = {f"KEDGE_{name.upper()}": value for name, value in values.items() if "\x00" not in value}
    environ.pop("KEDGE_CONFIG", None)
    try:
        load_settings(None, environ, registry.faults)
    except ConfigError as error:
        listed = error.details["faults"]
        assert isinstance(listed, list)
        assert {str(fault).partition(":")[0].partition(".")[0] for fault in listed} <= set(Settings.model_fields)


@pytest.mark.parametrize(
    ("vector_url", "idle"),
    [
        ("", ["vector_key"]),
        ("edge:///folder", ["vector_key"]),
        ("qdrant://host", ["optimize_after"]),
        ("milvus://host", ["optimize_after"]),
        ("iris://user@host/USER", ["optimize_after"]),
        ("qdrant+local:///folder", ["vector_key", "optimize_after"]),
        ("milvus+lite:///file.db", ["vector_key", "optimize_after"]),
    ],
)
def test_settings_of_a_vector_store_that_does_not_read_them_are_named(vector_url: str, idle: list[str]) -> None:
    settings = Settings(vector_url=vector_url, vector_key=SecretStr("k"), optimize_after=5)
    assert [sentence.split(" ")[0] for sentence in without_effect(settings)] == idle
