"""How the pages and the API reference are built: `make docs`. Warnings are errors there.

Docstrings are written as they are read in an editor: `name: what it is.` for parameters and fields, names of
the engine in backticks. Here the first become lists of parameters and the second links.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import gpufluid  # noqa: E402  (from this checkout)

project, author, version = "gpufluid", "The gpufluid developers", gpufluid.__version__
copyright = author
release = version
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax"]
exclude_patterns = ["_build"]
smartquotes = False  # what stands in quotes is to be typed as it is
html_theme = "furo"
html_title = f"gpufluid {version}"
html_show_sourcelink = html_copy_source = False
myst_enable_extensions = ["dollarmath"]
myst_fence_as_directive = ["math"]  # as GitHub writes formulas
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = (
    "none"  # the docstrings say what arguments are; signatures with types would not fit a line
)
default_role = "code"
nitpicky = True
# Words of other packages and of Python, whose pages are not at hand here.
nitpick_ignore_regex = [("py:.*", r"(?!gpufluid).*")]

LABEL = r"(?:(?<=[.:;)\]] )|^)((?:\*{0,2}[a-z_][a-z_0-9]*)(?:, [a-z_][a-z_0-9]*)*): "


def parameters_of(thing: Any) -> list[str]:
    """Names that a docstring of `thing` may describe: parameters, and what an object of a class holds."""
    try:
        names = list(inspect.signature(thing).parameters)
    except (TypeError, ValueError):
        names = []
    if inspect.isclass(thing):
        names += [name for base in thing.__mro__ for name in getattr(base, "__annotations__", ())]
        names += [name for name, value in inspect.getmembers(thing) if isinstance(value, property)]
    return names


def held_by(thing: Any) -> list[str]:
    """Names that the methods of a class set on its objects."""
    try:
        return re.findall(r"self\.([a-z_][a-z_0-9]*)\b(?=[^=\n]*[^=!<>]=[^=])", inspect.getsource(thing))
    except (OSError, TypeError):
        return []


def rewritten(thing: Any, lines: list[str]) -> list[str]:
    """`lines` of a docstring with its parameters as a list, and links to what the reference holds."""
    names = set(parameters_of(thing)) | set(held_by(thing) if inspect.isclass(thing) else ())
    out: list[str] = []
    for block in re.split(r"\n\s*\n", "\n".join(lines)):
        text = " ".join(line.strip() for line in block.split("\n"))
        found = [m for m in re.finditer(LABEL, text) if {n.strip("* ") for n in m[1].split(",")} <= names]
        raises = re.search(r"(?:^|(?<=[.)] ))Raises? ", text)
        verbatim = "::" in block or re.match(r"\s*(>>>|[-*] |\d+\. )", block)
        if not found or verbatim:
            out += [block if verbatim else text, ""]
            continue
        if raises and raises.start() > found[-1].start():
            text, tail = text[: raises.start()], text[raises.start() :]
        else:
            tail = ""
        if found[0].start():
            out += [text[: found[0].start()].strip(), ""]
        for label, following in zip(found, [*found[1:], None], strict=True):
            said = text[label.end() : following.start() if following else len(text)].strip()
            terms = ", ".join(f"``{n.strip('* ')}``" for n in label[1].split(","))
            out += [terms, f"   {said}"]  # a definition list
        out.append("")
        if tail:
            out += [tail, ""]
    return [linked(line) for block in out for line in block.split("\n")]


def linked(line: str) -> str:
    """`line` with links to names of the package in backticks."""

    def link(match: re.Match[str]) -> str:
        name = match[1].removeprefix("gf.").removeprefix("gpufluid.")
        first, _, rest = name.partition(".")
        if first not in gpufluid.__all__:
            return f"``{match[1]}``"
        held = getattr(getattr(gpufluid, first), rest, None)  # a field has no entry of its own
        has_entry = not rest or inspect.isroutine(held) or isinstance(held, property)
        return f":py:obj:`{match[1]} <gpufluid.{name if has_entry else first}>`"

    return re.sub(r"(?<![`:])`([^`<>]+)`(?!`)", link, line)


def rewrite(app: Any, kind: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Sphinx asks for each docstring here."""
    lines[:] = rewritten(thing, lines)


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", rewrite)
