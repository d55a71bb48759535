"""Weights that come inside a package of the index. Only its data files are used, checked against known digests."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from kedge.core.errors import ModelError


def folder_of(package: str, inside: str) -> Path | None:
    """The folder in the installed package, or None when it is not installed. Its code is not imported."""
    try:
        return Path(str(metadata.distribution(package).locate_file(inside)))
    except metadata.PackageNotFoundError:
        return None


def verify(folder: Path, digests: Mapping[str, str], package: str) -> None:
    """Raise ModelError unless every file is the one that Kedge was tested with. `package` is `name==version`."""
    for name, expected in digests.items():
        path = folder / name
        try:
            with path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise ModelError(f"{path} cannot be read: {error.strerror}.", hint=f"Reinstall {package}.") from error
        if found != expected:
            raise ModelError(
                f"{path.name} of {package} is not the file that Kedge was tested with.",
                hint=f"Reinstall {package}.",
                details={"expected": expected, "found": found},
            )
