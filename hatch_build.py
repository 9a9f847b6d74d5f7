"""Prepare the page of the package: an index shows the README without the files beside it.

``SECANT_REPOSITORY=https://...`` (the address of the repository) makes its links and pictures lead
there, at the tag of the version, and names the address in the metadata. Without it links to files
become their words, and pictures are left out.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURE = re.compile(r"^!\[[^\]]*\]\((?P<file>[^):#]+)\)\n\n?", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[(?P<words>[^\]]+)\]\((?P<file>(?![a-z]+:)[^)]+)\)")


def for_an_index(text: str, version: str, repository: str = "") -> str:
    """Return the README as it can be read on the page of a package."""
    if not repository:
        return LINK.sub(r"\g<words>", PICTURE.sub("", text))
    home = repository.rstrip("/")
    text = re.sub(r"(!\[[^\]]*\]\()(?![a-z]+:)", rf"\1{home}/raw/v{version}/", text)
    return LINK.sub(rf"[\g<words>]({home}/blob/v{version}/\g<file>)", text)


class CustomMetadataHook(MetadataHookInterface):
    """Fill in what pyproject.toml leaves open: the README, and addresses where they are known."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the page of the package."""
        repository = os.environ.get("SECANT_REPOSITORY", "").rstrip("/")
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        code = (Path(self.root) / "src" / "secant" / "__init__.py").read_text(encoding="utf-8")
        [version] = re.findall(r'^__version__ = "(.+)"$', code, re.MULTILINE)
        page = for_an_index(text, version, repository)
        metadata["readme"] = {"content-type": "text/markdown", "text": page}
        metadata["urls"] = {}
        if repository:
            changes = f"{repository}/blob/v{version}/CHANGELOG.md"
            metadata["urls"] = {"Source": repository, "Changelog": changes}
