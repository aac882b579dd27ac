"""Contexts of the engine's own: how they are made, told from a host's and released."""

from __future__ import annotations

import gc
import os
import sys
from threading import get_ident
from typing import Any
from weakref import WeakSet, finalize

import moderngl

from gpufluid.common.errors import GLUnavailableError, GpufluidError, warn
from gpufluid.contract.backend import released
from gpufluid.gl.calls import a_context, calls, current_renderer
from gpufluid.gl.devices import device_asked, device_count, device_given
from gpufluid.gl.programs import compiled
from gpufluid.gl.state import gone, guard_of, keep_state

# what drivers that draw on the processor call themselves, or what they are called by one that stands before
# them, as in "zink Vulkan 1.3(llvmpipe (LLVM 17.0.6, 256 bits) (LLVMPIPE))"
SOFTWARE = (
    *("llvmpipe", "lavapipe", "softpipe", "swrast", "software rasterizer", "swr (llvm"),  # Mesa's
    *("swiftshader", "apple software renderer", "microsoft basic render", "gdi generic"),
)
FEW = 4  # contexts of the engine's own that may be there before those that were dropped are looked for
# of OpenGL, the best first: 4.3 has compute shaders, 4.2 imageLoad, 3.3 all that the fragment stage needs. A
# driver may give just what it is asked for.
VERSIONS = 430, 420, 330
# by the names that every Linux has them under: who looks for them asks ldconfig, in two processes a context
LIBRARIES = {"libgl": "libGL.so.1", "libegl": "libEGL.so.1"}
REMEDY = "on Debian or Ubuntu install the packages libegl1 libgl1 libgl1-mesa-dri"
REMEDIES = {
    "win32": "install the driver of the graphics card's maker; on a remote desktop or a virtual machine, the "
    "'OpenCL, OpenGL and Vulkan Compatibility Pack' of the Microsoft Store",
    "darwin": "start it from a session at the screen, not as a service or over ssh",
}


_process: int | None = None  # that has used OpenGL


def check_process() -> None:
    """Raise GpufluidError in a process that was forked from one that had used OpenGL.

    The threads of its driver were left behind, and the first call that waits for them would do so for ever.
    """
    global _process
    _process = _process or os.getpid()
    if _process != os.getpid():
        raise GpufluidError(
            "this process was forked from one that had used OpenGL, and no driver works in it: start it by "
            'multiprocessing.get_context("spawn"), or use backend="numpy"'
        )


def create_context() -> moderngl.Context:
    """Return a context of the engine's own, without a window, which its calls make current.

    It is on the first of EGL's devices that gives one, a GPU before what draws in software, or on that which
    `device_asked` tells. Warns where it draws in software as the GPUs there are give none.
    Raises GLUnavailableError where there is no OpenGL 3.3, naming what to install and the way without, and
    GpufluidError as `check_process` and `device_asked` do.
    """
    check_process()
    reasons: list[str] = []
    failed: dict[int, str] = {}  # of GPUs
    for options in _loaders():
        try:
            made = _opened(options)
        except GLUnavailableError as error:
            reasons.append(str(error))
            if "device_index" in options:
                failed.setdefault(options["device_index"], str(error))
            continue
        if "device_index" in options and names_software(calls(made).renderer):
            made = _gpu_after(made, options, failed)
            if names_software(calls(made).renderer):
                _warn_of(failed, calls(made).renderer)
        return made
    raise GLUnavailableError(
        f"no OpenGL 3.3 here ({'; '.join(dict.fromkeys(reasons))}): {REMEDIES.get(sys.platform, REMEDY)}; "
        'in Python gf.Fluid(..., backend="numpy") steps without it'
    )


_settled: int | None = None  # the device that a search ended with: the first that is tried from then on


def _gpu_after(made: moderngl.Context, options: dict[str, Any], failed: dict[int, str]) -> moderngl.Context:
    """Return a context on the first GPU after the device of `made`, which draws in software; or that one.

    failed: gets those that give none. What is found out holds for the process.
    """
    global _settled
    own = options["device_index"]
    later = range(own + 1, device_count())
    if not later or own == _settled or device_asked() is not None or _software_wanted():
        return made
    made.release()
    for number in later:
        try:
            made = _opened({**options, "device_index": number})
        except GLUnavailableError as error:
            failed[number] = str(error)
            continue
        if not names_software(calls(made).renderer):
            _settled = number
            return made
        made.release()
    _settled = own
    return _opened(options)


def _loaders() -> list[dict[str, Any]]:
    """How a context may be made here, the best way first: what moderngl is given for it."""
    asked = device_asked()
    if not sys.platform.startswith("linux"):
        return [{}]
    numbers = sorted(range(device_count()), key=lambda n: n != _settled) if asked is None else [asked]
    egl = [
        {"backend": "egl", "device_index": number, **libraries}
        for libraries in (LIBRARIES, {})
        for number in numbers
    ]
    return [*egl, {}] if asked is None else egl


def _opened(options: dict[str, Any]) -> moderngl.Context:
    """A context that is made with `options`. Raises GLUnavailableError with the reasons why there is none."""
    # macOS gives its newest, 4.1, whatever is asked for; one that is too old for who asked is never freed
    versions = VERSIONS[-1:] if sys.platform == "darwin" else VERSIONS
    reasons = []
    for version in versions:
        try:
            # moderngl's annotations know no backend=
            with device_given():
                made = make_own(moderngl.create_context(standalone=True, require=version, **options))
        except Exception as error:  # every loader raises its own kind
            reasons.append(str(error).strip().splitlines()[0] if str(error).strip() else repr(error))
            continue
        guard_of(made).recalled = True
        return made
    raise GLUnavailableError("; ".join(dict.fromkeys(reasons)))


def _software_wanted() -> bool:
    """Whether Mesa is told to draw on the processor."""
    return os.environ.get("LIBGL_ALWAYS_SOFTWARE", "0") not in ("", "0", "false")


_warned: set[int] = set()


def _warn_of(failed: dict[int, str], renderer: str) -> None:
    """Say once that these devices give nothing: without it all is slow, and nobody knows why."""
    if not (_software_wanted() or _warned.issuperset(failed)):
        _warned.update(failed)
        told = ", ".join(f"GPU {number} does not open ({reason})" for number, reason in failed.items())
        text = f"{told}, so {renderer} draws in software, which is slow: may this user open /dev/dri/render*"
        warn(f"{text} (on many systems who is in the groups video and render)?", RuntimeWarning)


def device_names() -> list[str]:
    """Return what each of EGL's devices draws with, or why it does not."""
    names = []
    for number in range(device_count()):
        try:
            with released(_opened({"backend": "egl", "device_index": number, **LIBRARIES})) as ctx:
                names.append(calls(ctx).renderer)
        except GLUnavailableError as error:
            names.append(f"does not open ({error})")
    return names


_own: WeakSet[moderngl.Context] = WeakSet()


def make_own(ctx: moderngl.Context) -> moderngl.Context:
    """Say that `ctx` is the engine's, or its window's: nobody else counts on its state; return it."""
    keep_state(ctx, False)
    _own.add(ctx)
    return ctx


def is_own(ctx: moderngl.Context) -> bool:
    """True for a context that the engine made; False for a host's."""
    return ctx in _own


class _OwnContexts:
    """Those made for an owner who may have dropped them: then they are released when the next one is made.

    That is in the thread that made them, and where no device is left in them.
    """

    def __init__(self) -> None:
        self._dropped: list[tuple[int, moderngl.Context]] = []  # and the threads they were made in
        self._many = FEW

    def make(self, owner: object) -> moderngl.Context:
        """Return `create_context()` for `owner`."""
        if _alive() >= self._many:
            gc.collect()  # Python, which does not know how large they are, may not have found them yet
            self._release_dropped()
            # those of a program that needs them all are not looked for again
            self._many = max(FEW, 2 * _alive())
        else:
            self._release_dropped()
        made = create_context()
        finalize(owner, self._dropped.append, (get_ident(), made)).atexit = False
        return made

    def _release_dropped(self) -> None:
        for dropped in list(self._dropped):
            thread, ctx = dropped
            if thread != get_ident() or (ctx in compiled and compiled[ctx].users):
                continue
            self._dropped.remove(dropped)
            if not gone(ctx):
                ctx.__enter__()  # type: ignore[no-untyped-call]
                ctx.finish()
                ctx.release()
            compiled.pop(ctx, None)  # whose programs hold it


def _alive() -> int:
    """How many contexts of the engine's own there are."""
    return sum(not gone(ctx) for ctx in list(_own))


own_contexts = _OwnContexts()


def is_software(ctx: moderngl.Context | None = None) -> bool:
    """True if OpenGL here (or in `ctx`) is a software renderer.

    None: the context that is current in this thread is asked; if there is none, one is made and released.
    Raises GLUnavailableError if none can be made, GpufluidError for a `ctx` that is no context.
    """
    if ctx is not None:
        a_context(ctx)
    renderer = calls(ctx).renderer if ctx is not None else current_renderer()
    if renderer is not None:
        return names_software(renderer)
    with released(create_context()) as own:
        return names_software(calls(own).renderer)


def names_software(renderer: str) -> bool:
    """Whether a driver of that name draws on the processor."""
    return any(name in renderer.lower() for name in SOFTWARE)
