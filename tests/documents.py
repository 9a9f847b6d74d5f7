"""A page of the documentation, run from top to bottom as its reader would."""

import contextlib
import doctest
import inspect
import io
import re
import shlex
from pathlib import Path

from _pytest.doctest import _get_checker

from commands import command
from helpers import ROOT

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.REPORT_NDIFF

# A block with its kind, or a command in a sentence that names the file it is about.
PART = re.compile(
    r"^```([^\n]*)\n(.*?)^```$|`(secant (?:assess|monitor) \S+\.parquet[^`\n]*)`",
    re.DOTALL | re.MULTILINE,
)
GATES = ("--alpha", "--max-ecce-r", "--max-miscalibration", "--within", "monitor")


def read(page: str) -> str:
    """Return the text of a page, by its name in ``docs``, or of the README."""
    folder = ROOT if page == "README.md" else ROOT / "docs"
    return (folder / page).read_text(encoding="utf-8")


class Page:
    """What a page says is done, and what comes of it.

    ``python`` blocks share one namespace; those with prompts are compared with what they print.
    ``sh`` blocks are run by the command itself, in the folder the test is in, and so are the steps
    of a workflow in ``yaml``. A ``text`` block is what the block before it printed. Blocks whose
    first line is among `left_out` are not run.
    """

    def __init__(self, name, content, names=None, left_out=()):
        self.name, self.content, self.left_out = name, content, set(left_out)
        self.names = {"__name__": "__main__", **(names or {})}
        self.printed = ""
        self.faults: list[str] = []

    def run(self):
        """Run all of it, and return what was not as the page says."""
        for part in PART.finditer(self.content):
            kind, block, inline = part.groups()
            line = self.content.count("\n", 0, part.start())
            if inline:
                self.sh(line, inline)
            elif kind.startswith("{"):
                continue  # a directive of the site
            elif block.partition("\n")[0] in self.left_out:
                self.left_out.remove(block.partition("\n")[0])
            elif kind in ("python", "sh", "text", "yaml"):
                getattr(self, kind)(line + 1, block)
            else:
                self.fault(line, f"python, sh, text or yaml? {kind!r}")
        self.faults += [f"{self.name}: not on the page: {each}" for each in sorted(self.left_out)]
        self.tests()
        return self.faults

    def fault(self, line, what):
        self.faults.append(f"{self.name}, line {line + 1}: {what}\n")

    def python(self, line, block):
        if ">>>" not in block:
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile("\n" * line + block, self.name, "exec"), self.names)  # noqa: S102
            self.printed = out.getvalue()
            return
        test = doctest.DocTestParser().get_doctest(block, self.names, self.name, self.name, line)
        runner = doctest.DocTestRunner(_get_checker(), verbose=False, optionflags=FLAGS)
        runner.run(test, out=self.faults.append, clear_globs=False)
        self.names.update(test.globs)

    def sh(self, line, block):
        self.printed = ""
        for each in block.replace("\\\n", " ").splitlines():
            program, *arguments = shlex.split(each, comments=True) or ["pip"]
            if program == "secant":
                ended = command(*arguments, env={"COLUMNS": "120"})
                # A gate may be crossed; anything else is an error of the page.
                if ended.exit_code not in ((0, 1) if {*GATES} & {*arguments} else (0,)):
                    self.fault(line, f"{each}\n{ended.output}{ended.exception!r}")
                self.printed += ended.stdout
            elif not exists(program, arguments):
                self.fault(line, f"no such thing: {each}")

    def yaml(self, line, block):
        """Run the steps of a workflow."""
        self.sh(line, "\n".join(re.findall(r"- run: (.*)", block)))

    def text(self, line, block):
        if not _get_checker().check_output(block, self.printed, FLAGS):
            self.fault(line, f"the page says\n{block}\nand it is\n{self.printed}")

    def tests(self):
        """Run the tests that the page defines, with what they ask for by name."""
        for name, function in list(self.names.items()):
            if name.startswith("test_"):
                wanted = inspect.signature(function).parameters
                function(**{key: self.names[key] for key in wanted if key in self.names})


def exists(program, arguments):
    """Whether what a page tells to run beside secant is there."""
    if program == "make":
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        return bool(re.search(rf"^{arguments[0]}:", makefile, re.MULTILINE))
    return program == "pip" or (program == "python" and Path(ROOT, arguments[0]).is_file())
