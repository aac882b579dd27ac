"""What is done only when it is asked for twice, since something would be lost."""

from __future__ import annotations

import time
from collections.abc import Callable

STANDS = 5.0  # seconds that a question stands


class Twice:
    """Agrees to what is asked for the second time; the first time it says what would be lost.

    say: tells the user.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._text, self._said = "", 0.0

    def stands(self, text: str) -> bool:
        """Whether `text` was the last to be asked, a moment ago."""
        return text == self._text != "" and time.perf_counter() - self._said < STANDS

    def agreed(self, text: str) -> bool:
        """Whether `text`, which says what would be lost, was asked a moment ago already."""
        again = self.stands(text)
        self._text, self._said = "" if again else text, time.perf_counter()
        if not again:
            self._say(text)
        return again


def changes(count: int) -> str:
    """So many, in words."""
    return f"{count} unsaved change{'s' if count > 1 else ''}"
