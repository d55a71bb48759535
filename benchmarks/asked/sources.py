"""Lay out the documents of the written questions: `python -m benchmarks.asked.sources ARCHIVES OUT`.

ARCHIVES holds the source archives of the packages below (`pip download --no-deps --no-binary :all: NAME==VERSION`) and,
each unpacked by `dpkg-deb -x` into a folder of its name, the packages of Debian 12; OUT gets one folder for each
collection. The made reports come with the project. A collection holds the files of one documentation, without
changelogs and lists of names, or manuals and papers of many packages.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import sys
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

MADE = Path(__file__).parent / "made"
LEAST = 1800
"""Bytes below which a file is a stub."""
_SKIPPED = (
    "changes",
    "changelog",
    "news",
    "history",
    "release",
    "genindex",
    "whatsnew",
    "license",
    "authors",
    "contrib",
)


@dataclass(frozen=True, slots=True)
class Documentation:
    """The documentation inside a source archive."""

    archive: str
    """Name of the archive without `.tar.gz`, which is also its folder."""
    folder: str = "docs"
    suffixes: tuple[str, ...] = (".md", ".rst")


PACKAGES = {
    "aiohttp": Documentation("aiohttp-3.14.5"), "alembic": Documentation("alembic-1.9.4"),
    "beets": Documentation("beets-2.9.0"), "black": Documentation("black-26.5.1"),
    "borg": Documentation("borgbackup-1.4.5"), "celery": Documentation("celery-5.7.0"),
    "certbot": Documentation("certbot-5.8.0"), "click": Documentation("click-8.5.1"),
    "coverage": Documentation("coverage-7.17.3", "doc"),
    "cryptography": Documentation("cryptography-50.0.2"), "dask": Documentation("dask-2026.8.0"),
    "django": Documentation("django-6.1.3", suffixes=(".txt",)),
    "edgar": Documentation("edgartools-5.9.1", "."), "falcon": Documentation("falcon-4.4.0"),
    "flask": Documentation("flask-3.1.3"), "gunicorn": Documentation("gunicorn-27.0.1"),
    "hatch": Documentation("hatch-1.18.2"), "huey": Documentation("huey-3.5.4"),
    "ipython": Documentation("ipython-9.18.1"), "isort": Documentation("isort-9.0.2"),
    "jinja": Documentation("jinja2-3.1.6"), "jupyter": Documentation("jupyter_server-2.9.1"),
    "kombu": Documentation("kombu-5.7.0"), "marshmallow": Documentation("marshmallow-4.4.0"),
    "mypy": Documentation("mypy-2.4.1"), "nox": Documentation("nox-2026.10.20"),
    "numba": Documentation("numba-0.68.1"), "peewee": Documentation("peewee-4.5.3"),
    "pillow": Documentation("Pillow-9.5.0"), "pip": Documentation("pip-26.3"),
    "pyramid": Documentation("pyramid-2.1"), "pytest": Documentation("pytest-9.2.0", "doc"),
    "rq": Documentation("rq-2.12.0"), "scrapy": Documentation("Scrapy-2.9.0"),
    "setuptools": Documentation("setuptools-84.2.1"), "simpy": Documentation("simpy-4.1.2"),
    "sphinx": Documentation("sphinx-9.2.0", "doc"),
    "sqlalchemy": Documentation("sqlalchemy-2.1.9", "doc/build"),
    "starlette": Documentation("starlette-1.9.0"), "streamlink": Documentation("streamlink-8.6.3"),
    "structlog": Documentation("structlog-26.1.0"), "supervisor": Documentation("supervisor-4.3.0"),
    "tornado": Documentation("tornado-6.6.1"), "twisted": Documentation("twisted-26.10.0"),
    "werkzeug": Documentation("werkzeug-3.1.9"), "xarray": Documentation("xarray-2026.9.0", "doc"),
}  # fmt: skip
"""Collections, each the documentation of one package; all under MIT, BSD-like or Apache licences."""
DEBIAN = {
    "apache": "apache2-doc/usr/share/doc/apache2-doc/manual/en",
    "handbook": "debian-handbook/usr/share/doc/debian-handbook/html/en-US",
}
"""Folders of pages inside unpacked Debian packages (Apache-2.0; CC BY-SA 3.0 or GPL-2+)."""
GATHERED = {
    "guides": (
        "altos/usr/share/doc/altos/telemetry.pdf.gz",
        "aprx/usr/share/doc/aprx/aprx-manual.pdf.gz",
        "cd-hit/usr/share/doc/cd-hit/cdhit-user-guide.pdf",
        "d-itg/usr/share/doc/d-itg/d-itg-manual.pdf",
        "debian-history/usr/share/doc/debian-history/docs/project-history.en.pdf",
        "freedv/usr/share/doc/freedv/USER_MANUAL.pdf.gz",
        "geotranz-doc/usr/share/doc/geotranz-doc/MSP_Geotrans_Release_Notes.pdf.gz",
        "goldencheetah/usr/share/doc/goldencheetah/Cycling_Training_Software_User_Survey.pdf.gz",
        "goldencheetah/usr/share/doc/goldencheetah/GC3-FAQ.pdf.gz",
        "goldencheetah/usr/share/doc/goldencheetah/GC3*-Release.pdf.gz",
        "melting/usr/share/doc/melting/melting.pdf.gz",
        "minimap2/usr/share/doc/minimap2/minimap2.pdf",
        "nut-doc/usr/share/doc/nut-doc/pdf/FAQ.pdf",
        "nut-doc/usr/share/doc/nut-doc/pdf/cables.pdf",
        "opensm-doc/usr/share/doc/opensm/doc/OpenSM_RN.pdf.gz",
        "speex-doc/usr/share/doc/speex/manual.pdf.gz",
    ),
    "papers": (
        "r-cran-coin/usr/lib/R/site-library/coin/doc/LegoCondInf.pdf",
        "r-cran-epi/usr/lib/R/site-library/Epi/doc/yll.pdf",
        "r-cran-forecast/usr/lib/R/site-library/forecast/doc/JSS2008.pdf",
        "r-cran-genetics/usr/lib/R/site-library/genetics/doc/genetics_article.pdf",
        "r-cran-gstat/usr/lib/R/site-library/gstat/doc/prs.pdf",
        "r-cran-learnbayes/usr/lib/R/site-library/LearnBayes/doc/MultilevelModeling.pdf",
        "r-cran-metafor/usr/lib/R/site-library/metafor/doc/metafor.pdf",
        "r-cran-mnp/usr/lib/R/site-library/MNP/doc/MNP.pdf",
        "r-cran-multcomp/usr/lib/R/site-library/multcomp/doc/chfls1.pdf",
        "r-cran-party/usr/lib/R/site-library/party/doc/MOB.pdf",
        "r-cran-pscl/usr/lib/R/site-library/pscl/doc/countreg.pdf",
        "r-cran-rpart/usr/lib/R/library/rpart/doc/longintro.pdf",
        "r-cran-spatstat/usr/lib/R/site-library/spatstat/doc/datasets.pdf",
        "r-cran-strucchange/usr/lib/R/site-library/strucchange/doc/strucchange-intro.pdf",
        "r-cran-survival/usr/lib/R/library/survival/doc/compete.pdf",
        "r-cran-survival/usr/lib/R/library/survival/doc/concordance.pdf",
        "r-cran-survival/usr/lib/R/library/survival/doc/population.pdf",
        "r-cran-survival/usr/lib/R/library/survival/doc/timedep.pdf",
        "r-cran-tsp/usr/lib/R/site-library/TSP/doc/TSP.pdf",
        "r-cran-vegan/usr/lib/R/site-library/vegan/doc/diversity-vegan.pdf",
    ),
    "vignettes": (
        "r-cran-amelia/usr/lib/R/site-library/Amelia/doc/*.html",
        "r-cran-dosefinding/usr/lib/R/site-library/DoseFinding/doc/*.html",
        "r-cran-matchit/usr/lib/R/site-library/MatchIt/doc/*.html",
        "r-cran-tidyr/usr/lib/R/site-library/tidyr/doc/*.html",
    ),
}  # fmt: skip
"""Files inside unpacked Debian packages, from many of them: manuals and papers as PDF, and pages with tables. All of
Debian's main section (GPL, BSD-like, MIT, GFDL, CC BY-SA, public domain)."""


def from_archive(archives: Path, wanted: Documentation, target: Path) -> int:
    """The files of one documentation; how many there are."""
    count = 0
    inside = PurePosixPath(wanted.archive) / wanted.folder
    with tarfile.open(archives / f"{wanted.archive}.tar.gz") as archive:
        for member in archive.getmembers():
            path = PurePosixPath(member.name)
            if not member.isfile() or member.size <= LEAST or path.suffix not in wanted.suffixes:
                continue
            if not path.is_relative_to(inside) or ".." in path.parts:
                continue
            relative = path.relative_to(inside)
            stream = archive.extractfile(member)
            if stream is None or any(part in str(relative).lower() for part in _SKIPPED):
                continue
            to = target / relative
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(stream.read())
            count += 1
    return count


def from_pages(folder: Path, target: Path) -> int:
    """The pages of a folder, side by side; how many there are."""
    pages = [path for path in folder.rglob("*.html") if path.is_file() and "index" not in path.name]
    target.mkdir(parents=True, exist_ok=True)
    for path in pages:
        shutil.copyfile(path, target / path.name)
    return len(pages)


def from_files(archives: Path, wanted: Iterable[str], target: Path) -> int:
    """The files that are named, each with the name of its package before its own; how many there are."""
    target.mkdir(parents=True, exist_ok=True)
    count = 0
    for pattern in wanted:
        package = PurePosixPath(pattern).parts[0].removeprefix("r-cran-")
        for path in sorted(archives.glob(pattern)):
            if path.is_symlink() or "index" in path.name:
                continue
            content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            (target / f"{package}-{path.name.removesuffix('.gz')}").write_bytes(content)
            count += 1
    return count


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.asked.sources", description=__doc__)
    parser.add_argument("archives", type=Path)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    missing = [one.archive for one in PACKAGES.values() if not (given.archives / f"{one.archive}.tar.gz").is_file()]
    missing += [folder for folder in DEBIAN.values() if not (given.archives / folder).is_dir()]
    missing += [one for files in GATHERED.values() for one in files if not any(given.archives.glob(one))]
    if missing:
        sys.exit(f"Not there below {given.archives}: {', '.join(missing)}")
    for name, package in PACKAGES.items():
        print(f"{name}: {from_archive(given.archives, package, given.out / name)} files")
    for name, folder in DEBIAN.items():
        print(f"{name}: {from_pages(given.archives / folder, given.out / name)} files")
    for name, files in GATHERED.items():
        print(f"{name}: {from_files(given.archives, files, given.out / name)} files")
    for made in sorted(MADE.iterdir()):
        shutil.copytree(made, given.out / made.name, dirs_exist_ok=True)
        print(f"{made.name}: {len(list(made.iterdir()))} files")


if __name__ == "__main__":
    main()
