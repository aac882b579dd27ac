"""What is told, for as long as it takes to read; and what is done only when it is asked for twice."""

from __future__ import annotations

import time
from collections.abc import Callable

STANDS = 5.0  # seconds


class Message:
    """The last thing told: it stands for STANDS from the first picture that shows it, and while it is held.

    However slow the pictures are, nothing is gone before it could be read.
    """

    def __init__(self) -> None:
        self.text = ""
        self._until: float | None = None  # None: no picture has shown it yet
        self._held = False

    def say(self, text: str) -> None:
        """Tell something else."""
        self.text, self._until, self._held = text, None, False

    def seen(self, held: bool) -> None:
        """A picture shows it. held: the pointer is over it there."""
        if self._until is None:
            self._until = time.perf_counter() + STANDS
        self._held = held

    @property
    def stands(self) -> bool:
        """Whether it is to be shown."""
        waits = self._until is None or self._held or time.perf_counter() < self._until
        return waits and self.text != ""


class Twice:
    """Agrees to what is asked for the second time; the first time it says what would be lost.

    message: in which that stands; as long as it does, the second time counts. say: tells the user.
    """

    def __init__(self, message: Message, say: Callable[[str], None]) -> None:
        self._message, self._say = message, say
        self._text = ""

    def stands(self, text: str) -> bool:
        """Whether `text` was the last to be asked, and stands still."""
        return text == self._text == self._message.text != "" and self._message.stands

    def agreed(self, text: str) -> bool:
        """Whether `text`, which says what would be lost, was asked a moment ago already."""
        again = self.stands(text)
        self._text = "" if again else text
        if not again:
            self._say(text)
        return again
