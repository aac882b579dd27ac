"""The text of a description: written neatly, or changed in place, so that comments and layout stay.

tomlkit knows where in the text everything stands. Single values are replaced by it; whole lines and tables
come and go as text behind what stands before them, for it would put them behind the next table's comment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from gpufluid.common.errors import needs
from gpufluid.scene.schema import LISTS, load_msgspec

Plain = dict[str, Any]

TABLES = ("grid", "sides", "settings", "camera", "light", "smoke", "fire", "picture", "hand")
THING = "\0thing"  # of a table in a list: what it describes, by which it is found again
WIDTH = 100  # letters of a line, from which on a list of lists takes a line for each
# marks: of what goes, and of what something comes before
BEGIN, END, BEFORE = "#\ue000", "#\ue001", "#\ue002"
COMMENTS = r"(?:^[ \t]*#[^\n\ue000-\ue002]*\n)*"
# what goes: with the comment right above it and right below, and an empty line
GOES = re.compile(
    rf"{COMMENTS}^[^\n]*{BEGIN}.*?{END}\n(?:(?:[ \t]*#[^\n]*\n)+(?=[ \t]*(?:\n|\Z)))?(?:[ \t]*\n)?",
    re.DOTALL | re.MULTILINE,
)
COMES = re.compile(rf"{COMMENTS}^[^\n]*{BEFORE}(\d+);", re.MULTILINE)
HEAD = re.compile(r"(?:#[^\n]*\n)*(?=[ \t]*\n)")  # what a file begins with before anything in it


class OddTextError(Exception):
    """The text is laid out in a way that cannot be changed in place."""


def load_tomlkit() -> Any:
    """The module tomlkit. Raises MissingDependencyError where it is not installed."""
    with needs("tomlkit", "writing a scene file"):
        import tomlkit
    return tomlkit


# -- anew ----------------------------------------------------------------------------------------------


def written(values: Mapping[str, Any]) -> str:
    """The text that says the `values` of a description."""
    text = _block("", values, "")
    return text.lstrip("\n")


def _block(header: str, values: Mapping[str, Any], prefix: str) -> str:
    """A table with all that is in it; prefix: before the names of its tables."""
    lines, after = [f"\n{header}\n"] if header else [], []
    for name, value in values.items():
        if name in TABLES and isinstance(value, dict) and not prefix:
            after.append(_block(f"[{name}]", value, f"{name}."))
        elif name in LISTS and isinstance(value, list) and prefix in ("", "containers."):
            after += [_block(f"[[{prefix}{name}]]", each, f"{prefix}{name}.") for each in value]
        else:
            lines.append(f"{name} = {inline(value)}\n")
    return "".join(lines + after)


def inline(value: Any, breaks: bool = True) -> str:
    """`value` as it stands behind its name; breaks: a long list of lists may take several lines."""
    if isinstance(value, dict):
        parts = ", ".join(f"{name} = {inline(part, breaks=False)}" for name, part in value.items())
        return f"{{ {parts} }}" if parts else "{}"
    if isinstance(value, list):
        each = [inline(part, breaks=False) for part in value]
        text = f"[{', '.join(each)}]"
        if breaks and len(text) > WIDTH and isinstance(value[0], list | dict):
            return "[\n" + "".join(f"    {part},\n" for part in each) + "]"
        return text
    text = load_tomlkit().item(value).as_string()
    return str(text)


# -- in place ------------------------------------------------------------------------------------------


def changed(text: str, was: Plain, now: Plain, brief: Plain) -> str:
    """`text`, in which what `was` said is said as it is `now`, and all else stays, comments too.

    brief: what is new, without what goes without saying. Raises OddTextError where the text is laid out in a
    way that cannot be changed so.
    """
    plain = load_msgspec().toml.decode(text)
    try:
        editor = _Editor(text)
        editor.table(_Table(editor.doc, plain, ""), was, now, brief)
        after = editor.text()
        if load_msgspec().toml.decode(after) == plain:
            return after
    except (LookupError, AttributeError, TypeError, ValueError) as error:  # tomlkit's too
        raise OddTextError(str(error)) from error
    raise OddTextError("it would say something else")


class _Table(NamedTuple):
    """A table of a text. at: tomlkit's. plain: what it says.

    prefix: of the names of tables and lists in it that stand by themselves; None where none do.
    """

    at: Any
    plain: Plain
    prefix: str | None = None


class _Editor:
    """A text that is changed; what it says, as plain values, is changed alike, to hold it to.

    Lines and tables that come are text behind the last one before them. Those that come or go as a whole do
    so in the end, when every line is in its table.
    """

    def __init__(self, text: str) -> None:
        self.kit = load_tomlkit()
        self.doc = self.kit.parse(text)
        if self.doc.as_string() != text:
            raise OddTextError("tables of one list stand apart")
        self._top = ""  # lines before all tables
        self._before: list[str] = []  # tables that come before one that is there
        self._end = ""  # tables behind everything
        self._later: list[Callable[[], None]] = []

    def text(self) -> str:
        """The text as it is now."""
        for each in self._later:
            each()
        text: str = self.doc.as_string()
        text = COMES.sub(lambda found: self._before[int(found[1])] + "\n" + found[0], text)
        text = re.sub(rf"{BEFORE}\d+;", "", GOES.sub("", text))
        if self._top:
            head = HEAD.match(text)
            at = head.end() + 1 if head and head.end() else 0
            text = f"{text[:at]}{self._top}\n{text[at:]}"
        if self._end:
            text = text.rstrip("\n") + "\n" + self._end
        return text

    # -- values --------------------------------------------------------------------------------------------

    def table(self, of: _Table, was: Plain, now: Plain, brief: Plain) -> None:
        """Change a table."""
        names = dict.fromkeys((*was, *now))
        # lines go before others follow them
        for name in sorted(names, key=lambda name: now.get(name) is not None):
            before, after = was.get(name), now.get(name)
            if name == THING:
                continue
            if of.prefix is not None and name in LISTS:
                self._list(of, name, before or [], after or [], brief.get(name, []))
            elif before != after:
                self._entry(of, name, before, after, brief)

    def _entry(self, of: _Table, name: str, before: Any, after: Any, brief: Plain) -> None:
        """Change what is said of `name`: `before`, and now `after`; None: nothing."""
        said: Any = of.plain.get(name, ())
        if after is None:
            self._remove(of, name)
        elif all(isinstance(one, dict) for one in (before, after, said)) and _same_kind(before, after):
            inner = brief.get(name, {})
            if name == "sides":  # one that is like others may be named now
                usual = inner.get("all", {"kind": "wall"})
                inner = {side: inner.get(side, usual) for side in after}
            self.table(_Table(of.at[name], said), before, after, inner)
        elif before and _both_of(dict, before, after) and len(said) == len(after):
            for n, each in enumerate(after):
                self.table(_Table(of.at[name][n], said[n]), before[n], each, brief[name][n])
        else:
            self._put(of, name, brief.get(name, after))

    def _put(self, of: _Table, name: str, value: Any) -> None:
        """Let `name` be `value`."""
        at, plain = of.at, of.plain
        old: Any = at.get(name)
        said: Any = plain.get(name)
        if name not in plain:
            self._add(of, name, value)
        elif isinstance(old, self.kit.items.Array) and _both_of(int | float, said, value):
            for n, number in enumerate(value):
                if said[n] != number:
                    said[n] = _like(said[n], number)
                    old[n] = self._item(said[n])
        elif isinstance(old, dict) and not isinstance(old, self.kit.items.InlineTable):
            self._remove(of, name)
            self._add(of, name, value)
        else:
            plain[name] = _like(said, value)
            at[name] = self._item(plain[name])

    def _add(self, of: _Table, name: str, value: Any) -> None:
        """Say `name`, of which nothing is said."""
        at = of.at
        of.plain[name] = value
        _, header = self._headers(at)
        if self._is_dotted(at) or isinstance(
            at, self.kit.items.InlineTable | self.kit.container.OutOfOrderTableProxy
        ):
            at[name] = self._item(value)
        elif header is not None and isinstance(value, dict):
            block = _block(f"[{header.rpartition('.')[0]}.{name}]", value, "")
            _behind(_last(at, self.kit), block)
        elif of.prefix == "" and name in TABLES and isinstance(value, dict):
            self._end += _block(f"[{name}]", value, f"{name}.")
        else:
            line = f"{name} = {inline(value)}\n"
            lines = [item for item in _items(at) if not _is_tables(item, self.kit)]
            if name == "name":  # which comes first, but for the kind
                _behind(at.get("kind", at), line)
            elif lines:
                _behind(lines[-1], line)
            elif at is self.doc:
                self._top += line
            else:
                _behind(at, line)

    def _remove(self, of: _Table, name: str) -> None:
        """Say nothing of `name` any more."""
        if of.plain.pop(name, None) is None:
            return
        old = of.at[name]
        if isinstance(old, self.kit.items.Table) and not self._is_dotted(old):
            self._later.append(partial(self._mark, old))
        else:
            del of.at[name]

    def _headers(self, table: Any) -> tuple[bool, str | None]:
        """Whether a table has no header of its own; and, where it has none, that of the last one in it."""
        bare = isinstance(table, self.kit.items.Table) and table.is_super_table()
        return bare, getattr(_items(table)[-1], "display_name", None) if bare else None

    def _is_dotted(self, table: Any) -> bool:
        """Whether a table has no header, nor have those in it: its lines are like ``shape.radius = 0.1``."""
        return self._headers(table) == (True, None)

    def _item(self, value: Any) -> Any:
        return self.kit.value(inline(value))

    # -- lists ---------------------------------------------------------------------------------------------

    def _list(self, of: _Table, name: str, was: list[Plain], now: list[Plain], brief: list[Plain]) -> None:
        """Change a list of tables."""
        there, said = of.at.get(name, []), of.plain.get(name, [])
        if len(said) != len(was):
            raise OddTextError(f"{name} are not as many as they were")
        pairs = _paired(was, now)
        within = "containers." if name == "containers" else None
        for new, old in enumerate(pairs):
            if old is not None:
                self.table(_Table(there[old], said[old], within), was[old], now[new], brief[new])
        if pairs == list(range(len(was))):
            return
        fresh = [bare(brief[new]) if old is None else said[old] for new, old in enumerate(pairs)]
        if isinstance(of.at, self.kit.items.InlineTable) or (
            was and not isinstance(there, self.kit.items.AoT)
        ):
            self._put(of, name, fresh) if fresh else self._remove(of, name)
            return
        of.plain.pop(name, None)
        if fresh:
            of.plain[name] = fresh
        self._later.append(partial(self._come_and_go, of.at, there, pairs, fresh, f"{of.prefix}{name}"))

    def _come_and_go(
        self, at: Any, there: Any, pairs: list[int | None], fresh: list[Plain], name: str
    ) -> None:
        """Write the tables of a list that are new, and take away those that are not among `pairs`."""
        number = len(there)
        last: int | None = None  # of those that were there, the one before
        first = ""  # tables before all of those
        for new, old in enumerate(pairs):
            if old is not None:
                last = old
                continue
            block = _block(f"[[{name}]]", fresh[new], f"{name}.")
            if last is not None:
                _behind(_last(there[last], self.kit), block)
            elif number:
                first += block
            elif at is self.doc:
                self._end += block
            else:
                _behind(_last(at, self.kit), block)
        if first:
            trivia = there[0].trivia
            trivia.comment = f"{BEFORE}{len(self._before)};{trivia.comment}"
            self._before.append(first.lstrip("\n"))
        for old in set(range(number)) - set(pairs):
            self._mark(there[old])

    def _mark(self, table: Any) -> None:
        """Mark a table that goes, up to its last line."""
        last = _last(table, self.kit)
        last.trivia.trail = f"\n{END}\n{last.trivia.trail[1:]}"
        table.trivia.comment = f"{BEGIN}{table.trivia.comment}"


def _items(table: Any) -> list[Any]:
    """What is in a table of tomlkit's, in the order of the text, without comments and empty lines."""
    body = table.body if hasattr(table, "body") else table.value.body  # of the whole, or of one in it
    return [item for key, item in body if key is not None and type(item).__name__ != "Null"]


def _is_tables(item: Any, kit: Any) -> bool:
    return isinstance(item, kit.items.Table | kit.items.AoT)


def _last(item: Any, kit: Any) -> Any:
    """What stands last in `item`: a line, or the head of a table without one."""
    while _is_tables(item, kit):
        inner = item.body if isinstance(item, kit.items.AoT) else _items(item)
        if not inner:
            break
        item = inner[-1]
    return item


def _behind(item: Any, text: str) -> None:
    """Let `text` follow the line of `item`."""
    item.trivia.trail = (item.trivia.trail or "\n") + text


def _paired(was: Sequence[Plain], now: Sequence[Plain]) -> list[int | None]:
    """For each table that is there now the number of the one that it was, or None."""
    if not all(THING in table for table in (*was, *now)):
        return list(range(len(now)))
    found = [next((n for n, w in enumerate(was) if w[THING] is each[THING]), None) for each in now]
    if len(was) == len(now):  # an expression is another one after every change of it
        for n in set(range(len(was))) - set(found):
            if found[n] is None and was[n].get("kind") == now[n].get("kind") == "expression":
                found[n] = n
    known = [n for n in found if n is not None]
    if known != sorted(known):
        raise OddTextError("things have changed their order")
    return found


def bare(part: Any) -> Any:
    """`part` of a description without what it describes."""
    if isinstance(part, dict):
        return {name: bare(value) for name, value in part.items() if name != THING}
    return [bare(value) for value in part] if isinstance(part, list) else part


def _same_kind(one: Plain, other: Plain) -> bool:
    return bool(one.get("kind") == other.get("kind"))


def _both_of(kind: Any, one: Any, other: Any) -> bool:
    """Whether both are lists of as many of a `kind`: numbers, or tables, such as the sources of particles."""
    both = isinstance(one, list) and isinstance(other, list) and len(one) == len(other)
    return both and all(isinstance(part, kind) for part in (*one, *other))


def _like(old: Any, new: Any) -> Any:
    """`new`, as a whole number where `old` is one."""
    whole = type(old) is int and isinstance(new, float) and new.is_integer()
    return int(new) if whole else new
