"""Whether a driver computes what the reference on the CPU does, for ``gpufluid info --check``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

import gpufluid as gf
from gpufluid.common.errors import GpufluidError
from gpufluid.contract.backend import released
from gpufluid.gl.trial import agrees
from gpufluid.gl.ways import SWEEPS, VARIABLE, Way

if TYPE_CHECKING:
    import moderngl

STEPS = 8  # more than textures remember, so that passes leave out empty space
DT = 0.03  # s
# shares of the largest value by which a field may differ: by what rounding makes of a limiter's choice, and
# with half floats
SINGLE, HALF = 0.01, 0.04
PICTURES = 0.01  # of the range: the mean difference between two ways to draw
APART = Way("compute", "texel")
JOINED = {  # passes that a trial may choose for large boxes
    **{f"{sweeps} sweeps": Way("compute", "texel", sweeps) for sweeps in SWEEPS if sweeps > 1},
    "confinement": Way("compute", "texel", joined=True),
}
FIELDS = ("density", "temperature", "velocity", "pressure")

Fields = dict[str, NDArray[np.float32]]


class Box(NamedTuple):
    """What is compared: a small box of fluid, and what each step changes in it."""

    name: str
    make: Callable[[str, moderngl.Context | None], gf.Fluid]
    change: Callable[[gf.Fluid, int], None] = lambda fluid, step: None
    alike: float = SINGLE


def _smoke(backend: str, ctx: moderngl.Context | None, precision: str = "single") -> gf.Fluid:
    rules = gf.Settings(buoyancy=2.0, vorticity_confinement=0.5, precision=precision)
    sides = gf.Boundaries.all(gf.Open()).but(bottom=gf.Wall())
    fluid = gf.Fluid(gf.Grid((14, 20, 12), 0.1), sides, rules, backend, ctx)
    ball = gf.Sphere((0.7, 0.3, 0.6), 0.23)
    fluid.emitters.add(gf.Emitter(ball, density=4.0, temperature=1.0, velocity=(0.3, 1.0, 0.0)))
    fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.22), position=(0.71, 1.13, 0.62)))
    return fluid


def _rise(fluid: gf.Fluid, step: int) -> None:
    fluid.obstacles[0].position = (0.71 + 0.013 * step, 1.13 - 0.007 * step, 0.62)


def _volumes(backend: str, ctx: moderngl.Context | None) -> gf.Fluid:
    rules = gf.Settings(advection="finite-volume", pressure=gf.Multigrid(2), viscosity=1e-3, cfl=None)
    wind, round_ = gf.Inflow((3.0, 0.5, 0.0), density=1.0), gf.Periodic()
    sides = gf.Boundaries(left=wind, right=gf.Open(), back=round_, front=round_)
    fluid = gf.Fluid(gf.Grid((20, 12, 10), 0.1), sides, rules, backend, ctx)
    fluid.obstacles.add(gf.Obstacle(gf.Box(size=(0.31, 0.33, 0.29)), position=(0.93, 0.52, 0.47)))
    return fluid


def _fire(backend: str, ctx: moderngl.Context | None) -> gf.Fluid:
    burning = gf.Combustion(smoke_per_burn=0.2, radiation=0.3)
    rules = gf.Settings(
        "monotone-cubic", combustion=burning, cooling=2.0, buoyancy=2.0, pressure=gf.Multigrid(2)
    )
    fluid = gf.Fluid(gf.Grid((12, 18, 12), 0.1), gf.Boundaries.all(gf.Open()), rules, backend, ctx)
    ball = gf.Sphere((0.6, 0.4, 0.6), 0.21)
    fluid.emitters.add(gf.Emitter(ball, fuel=2.0, temperature=1.0, color=(2.0, 0.5, 0.1)))
    return fluid


def _coarse(backend: str, ctx: moderngl.Context | None) -> gf.Fluid:
    rules = gf.Settings(coarse_velocity=True, buoyancy=2.0, pressure=gf.Multigrid(2))
    fluid = gf.Fluid(gf.Grid((24, 28, 20), 0.05), gf.Boundaries.all(gf.Open()), rules, backend, ctx)
    fluid.emitters.add(gf.Emitter(gf.Sphere((0.6, 0.25, 0.5), 0.16), density=4.0, temperature=1.0))
    knot = gf.Mesh.trefoil().fitted(0.62)
    fluid.obstacles.add(gf.Obstacle(knot, position=(0.603, 0.801, 0.507)))
    return fluid


def _flat(backend: str, ctx: moderngl.Context | None) -> gf.Fluid:
    rules = gf.Settings("bfecc", pressure=gf.ConjugateGradient(40), buoyancy=0.0, density_diffusivity=1e-3)
    fluid = gf.Fluid(gf.Grid((40, 32, 1), 0.05), gf.Boundaries.all(gf.Periodic()), rules, backend, ctx)
    fluid.emitters.add(gf.Emitter(gf.Sphere((0.5, 0.8, 0.0), 0.2), density=3.0, velocity=(2.0, 0.3, 0.0)))
    return fluid


BOXES = (
    Box("smoke round a ball that moves", _smoke, _rise),
    Box("in half precision", lambda backend, ctx: _smoke(backend, ctx, "half"), _rise, HALF),
    Box("a wind in finite volumes", _volumes),
    Box("fire of many colours", _fire),
    Box("a knot in a coarse velocity", _coarse),
    Box("ink in two dimensions", _flat),
)


def _fields(fluid: gf.Fluid) -> Fields:
    found = {name: getattr(fluid, name).read() for name in FIELDS}
    if fluid.color is not None:
        found["color"] = fluid.color.read()
    return found


def _played(box: Box, backend: str, ctx: moderngl.Context | None, *, every: bool = False) -> list[Fields]:
    """The fields at the end, or after every step: to read in between may hide what goes wrong."""
    out = []
    with box.make(backend, ctx) as fluid:
        for step in range(1, STEPS + 1):
            box.change(fluid, step)
            fluid.step(DT)
            if every or step == STEPS:
                out.append(_fields(fluid))
    return out


def _furthest(found: Fields, right: Fields) -> tuple[float, str]:
    """By how much of its largest value the field that is off most is off, and which that is."""
    off = {}
    for name, values in right.items():
        most = max(float(np.abs(values).max()), 1e-6)
        away = float(np.abs(found[name] - values).max()) / most
        off[name] = away if np.isfinite(away) else float("inf")
    name = max(off, key=off.__getitem__)
    return off[name], name


def _first_wrong(box: Box, backend: str, ctx: moderngl.Context) -> str:
    """Since which step, read after each, a field is off."""
    right, found = (_played(box, name, own, every=True) for name, own in (("numpy", None), (backend, ctx)))
    for step, pair in enumerate(zip(found, right, strict=True), 1):
        if _furthest(*pair)[0] > box.alike:
            return f"from step {step} on"
    return "only where nothing is read in between"


def _pictures(ctx: moderngl.Context) -> float:
    """How much three ways to draw the same smoke differ at most, a mean over the picture, of its range."""
    camera = gf.Camera(target=(0.7, 0.9, 0.6), distance=3.0)
    frames = []
    with _smoke("auto", ctx) as fluid:
        for step in range(STEPS):
            _rise(fluid, step)
            fluid.step(DT)
        for method in ("view-slices", "axis-slices", "ray-march"):
            with (
                released(gf.VolumeRenderer(ctx, method=method)) as volume,
                released(gf.FrameRenderer(ctx, (96, 128), volume=volume)) as frame,
            ):
                frame.draw(gf.Scene(fluid, camera=camera, floor=0.0))
                frames.append(frame.read()[..., :3].astype(float) / 255.0)
    if min(float(np.ptp(frame)) for frame in frames) < 0.1:
        return float("inf")  # nothing is seen
    return max(float(np.abs(frame - frames[0]).mean()) for frame in frames[1:])


def compared(ctx: moderngl.Context, backends: Sequence[str], boxes: Sequence[Box] = BOXES) -> Iterator[str]:
    """Yield how far each of `backends` is from the reference, line by line.

    Raises GpufluidError, after the last line, where one is too far.
    """
    wrong: dict[str, str] = {}
    for box in boxes:
        right, words = _played(box, "numpy", None)[0], []
        for backend in backends:
            off, field = _furthest(_played(box, backend, ctx)[0], right)
            words.append(f"{backend} {off:.0e}")
            if off > box.alike:
                since = _first_wrong(box, backend, ctx)
                words[-1] += f" WRONG: {field}, {since}"
                wrong.setdefault(backend, box.name)
        yield f"{box.name}: {', '.join(words)}"
    if "compute" in backends:
        bad = [name for name, way in JOINED.items() if not agrees(ctx, way, APART)]
        yield "passes joined in large boxes: " + ", ".join(
            f"{name} {'WRONG' if name in bad else 'as apart'}" for name in JOINED
        )
        if bad:
            wrong["passes that are joined"] = bad[0]
    off = _pictures(ctx)
    yield f"pictures by slabs and by rays: {off:.0e}{' WRONG' if off > PICTURES else ''}"
    if off > PICTURES:
        wrong["pictures"] = "slabs and rays"
    if wrong:
        named = ", ".join(f"{backend} ({name})" for backend, name in wrong.items())
        rest = [f"{VARIABLE}={backend}" for backend in backends if backend not in ("auto", *wrong)]
        if set(wrong) == {"passes that are joined"}:
            rest = [f"{VARIABLE}=1,apart"]
        help_ = f" {rest[0]} in the environment leaves that out;" if rest and "pictures" not in wrong else ""
        raise GpufluidError(
            f"this driver does not compute what it is told: {named}.{help_} a newer driver may do better"
        )
