"""One collector of the validation cases; it writes docs/validation.md at the end of a whole run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from page import Collector


@pytest.fixture(scope="session")
def _collector(request: pytest.FixtureRequest) -> Iterator[Collector]:
    import drawing  # noqa: F401  # matplotlib: missed now, and not a quarter of an hour later

    terminal: Any = request.config.pluginmanager.get_plugin("terminalreporter")

    capture: Any = request.config.pluginmanager.get_plugin("capturemanager")

    def say(line: str) -> None:
        with capture.global_and_fixture_disabled():
            terminal.ensure_newline()
            terminal.write_line(line, flush=True)

    collector = Collector(say)
    yield collector
    if collector.finish():
        say("docs/validation.md and its pictures are written")
    else:
        say(f"docs/validation.md is left as it was: not run to the end: {', '.join(collector.missing)}")


@pytest.fixture
def collector(_collector: Collector, request: pytest.FixtureRequest) -> Iterator[Collector]:
    """The collector of the whole run; says what runs and how long it took."""
    start = time.perf_counter()
    _collector.say(f"{request.node.name} ...")
    yield _collector
    _collector.say(f"  {time.perf_counter() - start:.0f} s")
