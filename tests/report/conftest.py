"""Reports in a real browser: one browser for all tests, a fresh page for each."""

import shutil
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest

import secant
import secant.report
from helpers import CLOSING, HOSTILE, REQUIRE_ALL, optional
from secant.paper import synthetic

# What it asserts is explained like what tests assert.
pytest.register_assert_rewrite("pages")

# As root a browser needs --no-sandbox; the rest keeps it from calling home.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser():
    """Return Debian's Chromium, driven by Playwright."""
    playwright = optional("playwright.sync_api")
    program = shutil.which("chromium")
    if program is None:
        if REQUIRE_ALL:
            pytest.fail("the program chromium is not installed (Debian: apt install chromium)")
        pytest.skip("the program chromium is not installed")
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=program, args=FLAGS)
        yield running
        running.close()


@pytest.fixture
def visit(browser):
    """Return a way to open a report from disk; it fails on any console message or request."""

    @contextmanager
    def opened(path: Path, **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        page = context.new_page()
        said, asked = [], []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        yield page
        page.wait_for_timeout(50)  # for a request or a message that is on its way
        context.close()
        assert said == []
        files = [unquote(urlsplit(url).path) for url in asked if not url.startswith("blob:")]
        assert files == [str(path)]

    return opened


@pytest.fixture(scope="session")
def paper():
    """Return the paper's synthetic set, square rooted."""
    happened = synthetic.responses(32768, "square rooted")[0]
    return secant.assess(happened, synthetic.scores(32768, "square rooted"))


@pytest.fixture(scope="session")
def paper_page(paper, tmp_path_factory):
    path = tmp_path_factory.mktemp("paper") / "report.html"
    secant.report.write(path, paper, title="The paper")
    return path


@pytest.fixture(scope="session")
def models():
    """Return two models of the same outcomes, one of them with a hostile name."""
    rng = np.random.default_rng(5)
    scores = rng.random(3000)
    happened = rng.random(3000) < scores**1.3
    return {HOSTILE: secant.assess(happened, scores), "other": secant.assess(happened, scores**1.2)}


@pytest.fixture(scope="session")
def groups():
    """Return groups with names of every kind."""
    rng = np.random.default_rng(6)
    names = np.array([HOSTILE, CLOSING, None, "north", "south"], dtype=object)
    scores = rng.random(6000)
    which = rng.integers(0, 5, 6000)
    happened = rng.random(6000) < np.where(which == 3, scores**2, scores)
    return secant.assess_by(happened, scores, names[which])


@pytest.fixture(scope="session")
def full_page(models, groups, tmp_path_factory):
    """Return a report with everything in it, and hostile texts wherever there are texts."""
    path = tmp_path_factory.mktemp("full") / "report.html"
    about = secant.report.Provenance(
        files=[HOSTILE, CLOSING],
        columns={"forecast": HOSTILE},
        command=f"secant assess {CLOSING}",
        elapsed=0.5,
    )
    secant.report.write(path, models, groups=groups, title=f"{HOSTILE} {CLOSING}", provenance=about)
    return path
