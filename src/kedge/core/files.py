"""Small things to do with files that every part may need."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def link(source: Path, target: Path) -> bool:
    """A second name for a file that never changes; a copy where the disk knows no links. False when it is gone."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except FileNotFoundError:
        return False
    except OSError:
        try:
            shutil.copyfile(source, target)
        except FileNotFoundError:
            return False
    return True
