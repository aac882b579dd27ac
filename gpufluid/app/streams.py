"""Standard output and standard error: work is not lost with what tells of it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO


def tell(text: str) -> None:
    """Print a line; what the encoding of standard output lacks, as a pipe's on Windows, is escaped."""
    try:
        print(text)
    except UnicodeEncodeError:
        encoding = sys.stdout.encoding
        print(text.encode(encoding, "backslashreplace").decode(encoding))


class Stream:
    """A text stream that nothing written to it breaks.

    What its encoding lacks is escaped. After an error, a full device's or that of a pipe which nobody reads,
    the rest is dropped; failed: that error, or None.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.failed: OSError | None = None

    def write(self, text: str) -> int:
        """Write `text`, as far as that can be; return its length."""
        if self.failed is None:
            try:
                self._stream.write(text)
            except UnicodeEncodeError:
                encoding = self._stream.encoding
                self.write(text.encode(encoding, "backslashreplace").decode(encoding))
            except OSError as error:
                self.failed = error
        return len(text)

    def flush(self) -> None:
        """Hand over what is buffered."""
        if self.failed is None:
            try:
                self._stream.flush()
            except OSError as error:
                self.failed = error

    def silence(self) -> None:
        """Where it has failed let what is buffered go nowhere, or the end of the process would try again."""
        if self.failed is not None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def lasting_streams(last: bool) -> Iterator[Stream]:
    """Have what is printed go through such streams, and yield that of standard output.

    One that is closed goes nowhere. last: the process ends after it.
    """
    with contextlib.ExitStack() as undo:

        def lasting(stream: TextIO | None) -> Stream:
            return Stream(stream or undo.enter_context(Path(os.devnull).open("w", encoding="utf-8")))

        output, errors = lasting(sys.stdout), lasting(sys.stderr)
        undo.enter_context(contextlib.redirect_stdout(output))
        undo.enter_context(contextlib.redirect_stderr(errors))
        try:
            yield output
        finally:
            for stream in (output, errors):
                stream.flush()
                if last:
                    stream.silence()
