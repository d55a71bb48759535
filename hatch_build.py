"""What a release says of its home: links of the README made whole, and the project's addresses in the metadata.

The address comes from `KEDGE_PROJECT_URL` (`make dist URL=https://…`), because the sources know of none. Without it the
README goes into the package as it is, and there are no addresses.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

BRANCH = "main"
_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<path>(?!\w+:|#|/)[^)\s]+)\)")


class AddressHook(MetadataHookInterface):
    """Fills `readme` and `urls`, which `pyproject.toml` names as dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add them."""
        address = os.environ.get("KEDGE_PROJECT_URL", "").rstrip("/")
        text = Path(self.root, "README.md").read_text("utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": whole(text, address) if address else text}
        metadata["urls"] = addresses(address) if address else {}


def addresses(address: str) -> dict[str, str]:
    """Those that a package page shows."""
    return {
        "Homepage": address,
        "Documentation": f"{address}/blob/{BRANCH}/docs/README.md",
        "Changelog": f"{address}/blob/{BRANCH}/CHANGELOG.md",
        "Issues": f"{address}/issues",
    }


def whole(text: str, address: str) -> str:
    """The text with its links to files of the repository led there; pictures to the files themselves."""

    def link(found: re.Match[str]) -> str:
        kind = "raw" if found["image"] else "blob"
        return f"{found['image']}[{found['text']}]({address}/{kind}/{BRANCH}/{found['path']})"

    return _LINK.sub(link, text)
