"""What the image and a release are made of: the wheel holds all that `kedge demo` needs, without the repository."""

from __future__ import annotations

import email
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.paths import ROOT


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the first stage of the image copies, and nothing else."""
    build = tmp_path_factory.mktemp("image") / "build"
    build.mkdir()
    let_through = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").split() if line.startswith("!")}
    for names in re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE):
        for name in names.split():
            assert name in let_through, f".dockerignore keeps {name} back"
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, build / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / name, build / name)
    return build


@pytest.mark.slow
def test_the_wheel_answers_without_the_repository(copied: Path, tmp_path: Path) -> None:
    done = _python(copied, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist"))
    assert done.returncode == 0, done.stderr
    (wheel,) = (tmp_path / "dist").glob("kedge-*.whl")
    bare = tmp_path / "bare"
    options = ["--quiet", "--no-deps", "--no-index", "--no-compile", "--disable-pip-version-check"]
    done = _python(tmp_path, "-m", "pip", "install", *options, "--target", str(bare), str(wheel))
    assert done.returncode == 0, done.stderr
    # `-S` leaves out the editable install of the repository; the packages that Kedge needs are named again.
    packages = [place for place in sys.path if Path(place).name == "site-packages"]
    program = (
        f"import sys; sys.path[:0] = [{str(bare)!r}, *{packages!r}]; import kedge; "
        f"assert kedge.__file__.startswith({str(bare)!r}); "
        "from kedge.surfaces.cli.main import run; sys.exit(run(['demo']))"
    )
    done = _python(tmp_path, "-S", "-c", program)
    assert done.returncode == 0, done.stderr
    assert "16 documents taken in" in done.stdout
    assert "at least 5 : 1" in done.stdout
    served = bare / "kedge" / "surfaces" / "server"
    assert (served / "web" / "index.html").exists()
    assert (served / "swagger" / "swagger-ui-bundle.js.gz").exists()
    assert (bare / "bin" / "kedge").exists()


@pytest.mark.parametrize("address", ["", "https://code.example.org/kedge/"])
def test_a_release_says_where_it_comes_from(copied: Path, tmp_path: Path, address: str) -> None:
    build = ["-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = _python(copied, *build, KEDGE_PROJECT_URL=address)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        told = email.message_from_bytes(wheel.read(name))
    page = str(told.get_payload())
    links = [link for link in re.findall(r"\]\(([^)]+)\)", page) if not link.startswith(("https:", "#"))]
    addresses = dict(one.split(", ", 1) for one in told.get_all("Project-URL", []))
    assert told["Description-Content-Type"] == "text/markdown"
    assert page.startswith("# Kedge")
    if address:
        assert links == []
        assert addresses["Homepage"] == "https://code.example.org/kedge"
        assert "](https://code.example.org/kedge/raw/main/docs/images/page-source.png)" in page
        assert "](https://code.example.org/kedge/blob/main/docs/tutorial/first-steps.md)" in page
    else:
        assert "docs/tutorial/first-steps.md" in links
        assert addresses == {}


def _python(folder: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    bare = {**_bare(folder), **environ}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=bare, capture_output=True, text=True, check=False
    )


def _bare(folder: Path) -> dict[str, str]:
    """Nothing of the caller's environment but where programs and the temporary folder are."""
    return {"PATH": "/usr/bin:/bin", "HOME": str(folder), "TMPDIR": str(folder)}
