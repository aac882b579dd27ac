"""The programs compiled in each context, for all devices in it."""

from __future__ import annotations

from collections import Counter
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import moderngl

KEPT = 256  # programs that no device uses any more; one may ask for them again, as for a box of that size


class Programs:
    """The programs compiled in one context, by their text, for all devices in it: compiling takes seconds."""

    def __init__(self) -> None:
        self.users: WeakSet[Any] = WeakSet()
        self.by_text: dict[str, moderngl.Program | moderngl.ComputeShader] = {}
        self.sent: dict[int, dict[str, Any]] = {}  # by the program's name in OpenGL
        self.passes = Counter[int]()  # that run each, in all devices, by the program's name

    def leave(self, device: object) -> None:
        """`device` uses them no more; the last one releases them, others all but the latest."""
        self.users.discard(device)
        if len(self.by_text) > KEPT:
            used = set[int]().union(*(user.used for user in self.users))
            unused = [program for program in self.by_text.values() if program.glo not in used]
            for program in unused[:-KEPT]:
                self.forget(program)
                program.release()
        if not self.users:
            for program in self.by_text.values():
                program.release()
            for told in (self.by_text, self.sent, self.passes):  # names may come again
                told.clear()

    def forget(self, program: moderngl.Program | moderngl.ComputeShader) -> None:
        """No pass runs `program` any more: it is released, and its name may come again."""
        for key in [key for key, one in self.by_text.items() if one is program]:
            del self.by_text[key]
        self.sent.pop(program.glo, None)
        del self.passes[program.glo]


compiled: WeakKeyDictionary[moderngl.Context, Programs] = WeakKeyDictionary()
