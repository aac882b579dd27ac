"""What this machine offers the engine, for ``gpufluid info``."""

from __future__ import annotations

import math
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

import gpufluid
from gpufluid.common.errors import GpufluidError
from gpufluid.contract.backend import released
from gpufluid.contract.layout import layouts
from gpufluid.description.grid import Grid

CORE = ("numpy", "moderngl", "glfw", "pyrr")
MODULES = {"pillow": "PIL", "imgui-bundle": "imgui_bundle"}  # of packages that are called otherwise
OPTIONAL = [  # of the extra `all`
    *("av", "pillow", "tqdm", "trimesh", "msgspec", "tomlkit", "OpenEXR", "imgui-bundle", "greenlet"),
    "matplotlib",
]
if sys.version_info < (3, 11):
    OPTIONAL.append("tomli")  # newer ones read TOML by themselves
    OPTIONAL.remove("imgui-bundle")  # which no extra brings there


def largest_cube(limit: int) -> int:
    """Return the cells a side of the largest cubic grid whose textures are at most `limit` texels a side."""
    # No layout holds more than limit^2 values; tiles that leave a strip unused make it a few cells less.
    n = int(math.pow(limit, 2.0 / 3.0)) + 1
    while n > 1:
        try:
            for layout in layouts(Grid((n, n, n)), limit).values():
                _ = layout.columns
            return n
        except GpufluidError:
            n -= 1
    return n


def package_lines() -> Iterator[str]:
    """Yield what is installed, line by line."""
    yield f"gpufluid         {gpufluid.__version__}"
    yield f"python           {platform.python_version()} on {platform.platform(terse=True)}"
    there = [package for package in OPTIONAL if find_spec(MODULES.get(package, package))]
    yield f"packages         {', '.join(f'{name} {_version(name)}' for name in CORE)}"
    if there:
        yield f"{'':16} {', '.join(f'{name} {_version(name)}' for name in there)}"
    missing = [package for package in OPTIONAL if package not in there]
    if missing:
        yield f'missing          {", ".join(missing)}: pip install "gpufluid[all]"'


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(no version)"


def device_lines(trial: bool) -> Iterator[str]:
    """Yield what OpenGL offers and how it is used, line by line. trial: after a new trial.

    Raises GLUnavailableError without OpenGL, GpufluidError where a trial is asked for and cannot be kept.
    """
    from gpufluid.gl.contexts import create_context, device_names
    from gpufluid.gl.devices import device_count
    from gpufluid.gl.trial import choose, tune

    for n, name in enumerate(device_names() if device_count() > 1 else ()):
        yield f"{'' if n else 'devices':16} {n}: {name}"
    with released(create_context()) as ctx:
        if trial:
            tune(ctx)
        choice = choose(ctx)
        device = choice.device(ctx)
        kind = "software, on the CPU" if device.software else "GPU"
        yield f"renderer         {device.renderer} ({kind})"
        yield f"OpenGL           {device.version // 100}.{device.version % 100 // 10}"
        few = ", the smallest as compute passes" if device.dispatches else ""
        yield f"kernels run as   {device.stage} passes{few}, texels read by {_READING[device.reading]}"
        many = [f"{device.sweeps} sweeps a pass"] if device.sweeps > 1 else []
        many += ["confinement in one pass"] if device.joined else []
        if many:
            yield f"in large boxes   {', '.join(many)}"
        for n, line in enumerate(choice.why):
            yield f"{'' if n else 'chosen':16} {line}"
        yield f"largest texture  {device.max_texture_size} x {device.max_texture_size} texels"
        n = largest_cube(device.max_texture_size)
        yield f"largest grid     {n} x {n} x {n} cells by texture size; memory may allow less"
        device.release()


def check_lines() -> Iterator[str]:
    """Yield how far what this driver computes is from the reference on the CPU, line by line.

    Raises GLUnavailableError without OpenGL, GpufluidError, after the last line, where it is too far.
    """
    from gpufluid.app.selftest import compared
    from gpufluid.gl.contexts import create_context
    from gpufluid.gl.ways import stages

    with released(create_context()) as ctx:
        for n, line in enumerate(compared(ctx, ("auto", *stages(ctx.version_code)))):
            yield f"{'' if n else 'off by at most':16} {line}"


_READING = {"image": "imageLoad", "texel": "texelFetch", "nearest": "texture() at texel centres"}
