"""Check a built site: ``python docs/check.py docs/_build/html``.

Every link inside the site leads to a page, and to a place on it, that is there; no page loads
anything from elsewhere. Links to other sites are not followed.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser loads by itself, with the attribute that says from where.
LOADED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """The anchors of a page, what it links to, and what it loads."""

    def __init__(self, path: Path) -> None:
        """Read a page."""
        super().__init__()
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember what a tag names and where it points."""
        given = dict(attrs)
        self.anchors |= {given[key] or "" for key in ("id", "name") if key in given}
        if tag == "a" and given.get("href"):
            self.links.add(given["href"] or "")
        elif tag in LOADED and given.get(LOADED[tag]) and given.get("rel") != "canonical":
            self.loaded.add(given[LOADED[tag]] or "")


def faults(site: Path) -> list[str]:
    """Say what is wrong, a line each."""
    found = sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)
    pages = {path: Page(path) for path in found}  # what is in _static are templates
    wrong = []
    for path, page in pages.items():
        here = path.relative_to(site)
        for link in sorted(page.links | page.loaded):
            address = urlsplit(link)
            if address.scheme == "data" or (address.netloc and link not in page.loaded):
                continue
            if address.netloc:
                wrong.append(f"{here} loads {link}")
                continue
            if address.scheme:
                continue  # mailto, javascript
            target = path if not address.path else path.parent / unquote(address.path)
            target = (target / "index.html" if target.is_dir() else target).resolve()
            if not target.is_file():
                wrong.append(f"{here} points to {link}, which is not there")
            elif address.fragment and target in pages:
                anchor = unquote(address.fragment)
                if anchor not in pages[target].anchors:
                    wrong.append(f"{here} points to {link}: no such place on that page")
    return wrong


if __name__ == "__main__":
    folder = Path(sys.argv[1]).resolve()
    found = faults(folder)
    sys.exit("\n".join(found) if found else 0)
