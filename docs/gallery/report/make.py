"""Take the picture of the report in the README: ``python docs/gallery/report/make.py``.

Needs playwright and Debian's chromium, as the tests of the report do.
"""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import sync_playwright

import secant
from secant import report
from secant.paper import synthetic

HERE = Path(__file__).parent
WIDTH = 1000
MARGIN = 20


def main() -> None:
    """Write the report of the paper's synthetic predictions and photograph the secant tool."""
    n, family = 32768, "square rooted"
    result = secant.assess(synthetic.responses(n, family)[0], synthetic.scores(n, family))
    about = report.Provenance(
        files=["predictions.parquet"], started=datetime(2026, 1, 1, tzinfo=UTC)
    )
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as browsers:
        page_file = Path(folder) / "report.html"
        report.write(page_file, result, title="Calibration report", provenance=about)
        browser = browsers.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        page = browser.new_page(
            viewport={"width": WIDTH, "height": 1400},
            device_scale_factor=1.25,
            color_scheme="light",
        )
        page.goto(page_file.as_uri())
        top = page.get_by_role("heading", name="Where is it off?").bounding_box()
        readout = page.locator("#readout").bounding_box()
        assert top is not None  # noqa: S101
        assert readout is not None  # noqa: S101
        start, end = top["y"] - MARGIN, readout["y"] + readout["height"] + MARGIN
        clip = {"x": 0, "y": start, "width": WIDTH, "height": end - start}
        page.screenshot(path=HERE / "report.png", clip=clip, full_page=True)
        browser.close()


if __name__ == "__main__":
    main()
