"""A scene to start from: what ``gpufluid new`` writes."""

from __future__ import annotations

import json
from pathlib import Path

from gpufluid.app.demos import SUFFIXES, demo_file
from gpufluid.common.errors import GpufluidError
from gpufluid.common.files import check_file, readable, whole_file

STARTER = """\
# A scene of gpufluid. Play it with:   gpufluid run {name}
# The window reloads it whenever you save it. Lengths are in metres, times in seconds, and y is up.
title = {title}
dt = 0.0333          # seconds per frame
duration = 6.0       # seconds; without it a window plays on
floor = 0.0          # height of the ground that catches the shadow

[grid]
cells = [48, 72, 48]     # more cells and a smaller cell_size give more detail, and take longer
gpu_cells = [96, 144, 96]   # in their place on a GPU, in the same box
cell_size = 0.0208       # edge of one of the cells: the box is cells times cell_size
origin = [-0.5, 0.0, -0.5]

[sides]                  # left, right (x), bottom, top (y), back, front (z); "all" is for the rest
all = {{ kind = "wall", slip = "free" }}
top = {{ kind = "open" }}

[settings]               # the numbers of the flow; rates are per second
buoyancy = 2.2           # how strongly warm gas rises
vorticity_confinement = 0.6   # keeps small swirls alive
cooling = 0.7
density_dissipation = 0.4
advection = "finite-volume"   # smoke is as much as was emitted, and leaves no streaks
pressure = {{ kind = "multigrid", cycles = 2 }}

[[emitters]]
name = "source"
shape = {{ kind = "sphere", radius = 0.08 }}
# a value can follow keyframes, {{ keys = [[0, 1.0], [2, 3.0]], ease = "smooth" }}, or a formula of the time:
position = {{ formula = ["0.05 * sin(5 * t)", "0.12", "0.05 * cos(4 * t)"] }}
falloff = 0.02           # metres over which its edge fades; by default one cell
density = 2.5            # added per second
temperature = 1.0
velocity = [0.0, 0.5, 0.0]

[[obstacles]]
name = "ball"
shape = {{ kind = "sphere", radius = 0.15 }}   # box, cylinder, capsule, plane, torus, knot, mesh
position = [0.05, 0.75, 0.0]

[camera]
target = [0.0, 0.65, 0.0]
distance = 2.7           # or its place, eye = [x, y, z], for distance, azimuth and elevation
azimuth = {{ formula = "20 + 4 * t" }}   # degrees
elevation = 8.0

[light]
direction = [-0.85, -0.75, 0.3]   # in which the light travels

[smoke]
extinction = 60.0        # how opaque it looks
edge = 0.1               # smoke thinner than this density fades from sight; 0: all shows
soft = false             # true: dense smoke shows no cells, and its finest curls are less sharp
fade = 0.2               # metres before the open top over which it thins out; 0: cut off there

[picture]
size = [640, 360]
fps = 30
"""


def write_starter(name: str, overwrite: bool = False, demo: str | None = None) -> Path:
    """Write a commented scene to ``name.toml`` and return its path.

    demo: write the file of that one, and what it names beside it; NAME.py where it is a script.
    Raises GpufluidError for a name that no such file can have, for a demo that there is not, where there is
    such a file and `overwrite` is False, or where none can be written.
    """
    path, source = Path(name), None if demo is None else demo_file(demo)
    if not path.name or path.name == "..":
        raise GpufluidError(f"a scene needs a name, as in smoke, for smoke.toml; got {name!r}")
    suffix = ".toml" if source is None else source.suffix
    if path.suffix.lower() in SUFFIXES and path.suffix.lower() != suffix:
        what = f"the demo {demo}" if demo else "a new scene"
        kind = "description" if suffix == ".toml" else "script"
        raise GpufluidError(f"{name}: {what} is a {kind}, {path.with_suffix(suffix)}")
    path = path if path.suffix.lower() == suffix else path.with_name(path.name + suffix)
    if source is None:
        title = json.dumps(readable(path.stem), ensure_ascii=False)
        text = STARTER.format(name=readable(str(path)), title=title)
    else:
        check_file(path, overwrite)  # before anything is written
        text = source.read_text(encoding="utf-8")
        for beside in source.parent.iterdir():
            if f'"{beside.name}"' in text:
                with whole_file(path.with_name(beside.name), overwrite) as partial:
                    partial.write_bytes(beside.read_bytes())
    with whole_file(path, overwrite, (suffix,)) as partial:
        partial.write_text(text, encoding="utf-8")
    return path
