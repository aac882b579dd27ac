"""What runs for long: lives, steps, decay and random scenes, and how much memory is held meanwhile.

The suite runs a little of each (test_memory.py); ``make soak`` all of it (test_soak.py).
"""

from __future__ import annotations

import ctypes
import gc
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import moderngl
import numpy as np
from host import B, Host, U

import gpufluid as gf
from gpufluid.engine.fluid import FIELDS

KINDS = ("Texture", "Buffer", "Framebuffer", "Renderbuffer", "VertexArray", "Program", "Query", "Sampler")
NAMES = 20_000  # names of OpenGL's that are looked at; it counts up
TINY = float(np.finfo(np.float32).tiny)


class Held(NamedTuple):
    """What a process holds."""

    alive: dict[str, int]  # objects of OpenGL's, by kind
    objects: int  # of Python that the collector knows
    blocks: int  # of Python's memory
    megabytes: float  # of the process; on llvmpipe textures are among them


def alive(host: Host, *kinds: str) -> dict[str, int]:
    """How many objects of each of those kinds there are in the context, of all kinds unless told."""
    return {kind: sum(map(host.function(f"glIs{kind}", B, U), range(1, NAMES))) for kind in kinds or KINDS}


def held(ctx: moderngl.Context) -> Held:
    """What is held now, not counting memory that glibc's allocator keeps for later."""
    host = Host(ctx)
    counted = alive(host)
    host.release()
    ctx.finish()
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1]) if sys.platform == "linux" else 0
    return Held(counted, len(gc.get_objects()), sys.getallocatedblocks(), pages * 4096 / 1e6)


def life(ctx: moderngl.Context) -> None:
    """A fluid with a mesh of its own, stepped, drawn and released."""
    fluid = gf.Fluid(gf.Grid((10, 12, 8), 0.1), settings=gf.Settings(pressure=gf.Multigrid(1)), ctx=ctx)
    fluid.emitters.add(gf.Emitter(gf.Sphere((0.5, 0.3, 0.4), 0.2), density=2.0, temperature=1.0))
    fluid.obstacles.add(gf.Obstacle(gf.Mesh.trefoil().fitted(0.4, center=(0.5, 0.8, 0.4))))
    fluid.step(0.05)
    fluid.sample([(0.5, 0.5, 0.4)]).velocity.sum()
    renderer, view = gf.FrameRenderer(ctx, (48, 32)), gf.VoxelView(ctx)
    scene = gf.Scene(fluid, camera=gf.Camera(target=(0.5, 0.6, 0.4), distance=3.0))
    renderer.draw(scene)
    view.render(fluid, scene.camera, renderer.shown)
    for thing in (view, renderer, fluid):
        thing.release()


def full_life(ctx: moderngl.Context) -> dict[str, Any]:
    """A fluid with one of each in it, stepped in slices too, drawn with all that is drawn, and released.

    Returns what was seen of it, arrays by name.
    """
    rules = gf.Settings(
        advection="semi-lagrangian",
        velocity_advection="maccormack",
        trace="euler",
        pressure=gf.Multigrid(1),
        combustion=gf.Combustion(),
        vorticity_confinement=0.2,
        viscosity=1e-4,
        density_diffusivity=1e-4,
    )
    fluid = gf.Fluid(gf.Grid((10, 12, 8), 0.1), gf.Boundaries.all(gf.Open()), rules, ctx=ctx)
    low = gf.Sphere((0.5, 0.3, 0.4), 0.2)
    fluid.emitters.add(gf.Emitter(low, density=2.0, temperature=2.0, fuel=2.0, color=(1.0, 0.5, 0.0)))
    fluid.emitters.add(gf.Emitter(gf.Line([(0.1, 0.1, 0.1), (0.5, 0.5, 0.5)], 0.1), density=1.0))
    fluid.obstacles.add(gf.Obstacle(gf.Mesh.icosphere(1), (0.5, 0.9, 0.4), scale=0.15, temperature=1.0))
    fluid.obstacles.add(gf.Obstacle(gf.Sphere((0.2, 0.8, 0.4), 0.1), slip="free"))
    fluid.forces.add(gf.ForceField(np.zeros((8, 12, 10, 3))))
    fluid.step(0.05)
    while not fluid.advance(0.05, 2.0):
        fluid.divergence.read()
    seen: dict[str, Any] = fluid.take(FIELDS)()
    seen |= {f"half {name}": half for name, half in fluid.take_halves(["density", "velocity"])().items()}
    seen["sample"] = fluid.sample([(0.5, 0.5, 0.4), (0.2, 0.8, 0.4)]).velocity
    frame = gf.FrameRenderer.of(gf.Picture((48, 32), method="ray-march", resolution=0.5), ctx)
    seeds = gf.Seeds((0.3, 0.2, 0.4), (0.7, 0.2, 0.4), (3, 1, 1))
    scene = gf.Scene(
        fluid,
        camera=gf.Camera(target=(0.5, 0.6, 0.4), distance=3.0),
        fire=gf.Fire(shimmer=0.01),
        lights=[gf.PointLight((0.2, 0.9, 0.2))],
        floor=0.0,
        views=[
            gf.ParticlesView(50, [gf.ParticleSource(low)]),
            gf.StreamlinesView(seeds, points=10),
            gf.StreakLinesView(seeds, points=10),
            gf.SliceView("speed"),
        ],
    )
    frame.follow(scene)
    scene.advance()
    frame.draw(scene)
    seen |= {"picture": frame.read(), "radiance": frame.read_hdr(), "depth": frame.read_depth()}
    frame.release()
    scene.release()
    return seen


class Busy:
    """A fluid with a moving solid, a source that comes and goes, samples and pictures, step after step."""

    def __init__(self, ctx: moderngl.Context) -> None:
        rules = gf.Settings(vorticity_confinement=0.3, density_dissipation=0.5, cooling=0.5, viscosity=1e-4)
        self.fluid = gf.Fluid(gf.Grid((10, 12, 8), 0.1), settings=rules, ctx=ctx)
        source = gf.Emitter(gf.Sphere((0.5, 0.3, 0.4), 0.2), density=2.0, temperature=1.0)
        self.source = self.fluid.emitters.add(source)
        self.ball = self.fluid.obstacles.add(gf.Obstacle(gf.Mesh.icosphere(1), scale=0.15))
        self.frame = gf.FrameRenderer(ctx, (48, 32))
        self.scene = gf.Scene(self.fluid, camera=gf.Camera(target=(0.5, 0.7, 0.4), distance=3.0))
        self.count = 0

    def run(self, steps: int) -> None:
        """Step so many times; a picture every tenth."""
        for _ in range(steps):
            turn = 0.05 * self.count
            self.ball.position = (0.5 + 0.2 * np.cos(turn), 0.9, 0.4 + 0.1 * np.sin(turn))
            self.source.active = self.count % 60 < 40
            self.fluid.step(1 / 30)
            self.fluid.sample([(0.5, 0.5, 0.4)])
            if self.count % 10 == 0:
                self.frame.draw(self.scene)
            self.count += 1
        self.fluid.finish()

    def release(self) -> None:
        """Release both."""
        self.frame.release()
        self.fluid.release()


def decay(backend: str, steps: int, rest: float) -> tuple[float, float]:
    """Let a flow decay; return what its steps then cost in terms of a fresh one's, and its least number.

    rest: share of everything left after a second. The least number is that which is not 0, of all fields.
    Both are timed in turns, and the least times compared: what else a machine does is not in them.
    """
    rate = -float(np.log(rest))
    rules = gf.Settings(
        advection="semi-lagrangian",
        trace="euler",
        pressure=gf.Jacobi(4),
        viscosity=0.02,
        density_dissipation=rate,
        cooling=rate,
        cfl=None,
        buoyancy=0.1,
        skip_empty=False,  # in a box that has become empty looking for smoke would be what is measured
    )

    def fresh() -> gf.Fluid:
        rng = np.random.default_rng(3)
        fluid = gf.Fluid(gf.Grid((8, 8, 8), 1 / 8), settings=rules, backend=backend)
        for field in (fluid.velocity, fluid.density, fluid.temperature):
            field.write(rng.uniform(0.1, 1.0, field.read().shape))
        return fluid

    times: tuple[list[float], list[float]] = [], []
    with fresh() as old, fresh() as new:
        for _ in range(steps):
            old.step(0.05)
        new.step(0.05)
        for _ in range(25):
            for fluid, taken in zip((old, new), times, strict=True):
                started = time.perf_counter()
                for _ in range(4):
                    fluid.step(0.05)
                fluid.finish()
                taken.append(time.perf_counter() - started)
        values = [old.velocity, old.density, old.temperature, old.pressure, old.divergence]
        numbers = np.concatenate([np.abs(field.read()).ravel() for field in values])
    least = float(numbers[numbers > 0.0].min(initial=1.0))
    return min(times[0]) / min(times[1]), least


def random_scene(seed: int, backend: str, ctx: Any = None) -> gf.Fluid:
    """A fluid with anything in it."""
    rng = np.random.default_rng(seed)

    def pick(*choices: Any) -> Any:
        return choices[rng.integers(len(choices))]

    def place() -> tuple[float, ...]:
        return tuple(rng.uniform(0.0, 0.8, 3))

    cells = tuple(int(n) for n in rng.integers(1, 12, 3))
    sides = [pick(gf.Wall(), gf.Wall("free"), gf.Open(), gf.Inflow((0, 0, 0), density=1.0)) for _ in range(6)]
    for axis in range(3):
        if rng.uniform() < 0.2:
            sides[2 * axis : 2 * axis + 2] = gf.Periodic(), gf.Periodic()
    rules = gf.Settings(
        advection=pick("maccormack", "semi-lagrangian", "bfecc", "monotone-cubic", "finite-volume"),
        trace=pick("rk2", "euler"),
        limiter=pick("clamp", "revert", None),
        sampler=pick("exact", "hardware"),
        pressure=pick(gf.Jacobi(8), gf.Multigrid(1), gf.RedBlackSOR(6), gf.ConjugateGradient(6)),
        vorticity_confinement=pick(0.0, 0.5, 20.0),
        buoyancy=pick(1.0, -3.0, 1e3),
        viscosity=pick(0.0, 1e-3, 1.0),
        density_diffusivity=pick(0.0, 1e-3),
        cooling=pick(0.0, 1.0, 1e4),
        combustion=pick(None, gf.Combustion()),
        precision=pick("single", "half"),
        max_substeps=2,
    )
    fluid = gf.Fluid(gf.Grid(cells, 0.1), gf.Boundaries(*sides), rules, backend, ctx)  # type: ignore[arg-type]
    for _ in range(rng.integers(1, 4)):
        shape = pick(
            gf.Sphere(place(), 0.15), gf.Box(place(), (0.2, 0.3, 0.1)), gf.Cylinder(place(), 0.1, 0.3)
        )
        velocity = pick(None, tuple(rng.normal(size=3) * 10.0))
        source = gf.Emitter(
            shape, density=pick(0.0, 3.0, 1e5), temperature=pick(None, 2.0, -1e3), velocity=velocity
        )
        source.fuel, source.color = pick(0.0, 5.0), pick(None, (1.0, 0.2, 0.0))
        fluid.emitters.add(source)
    for _ in range(rng.integers(0, 3)):
        solid = pick(gf.Sphere(radius=0.15), gf.Box(size=(0.2, 0.2, 0.2)), gf.Mesh.icosphere(1).fitted(0.3))
        spin, slip = tuple(rng.normal(size=3) * 5.0), pick("no", "free")
        fluid.obstacles.add(gf.Obstacle(solid, place(), spin=spin, slip=slip, temperature=pick(None, 3.0)))
    if rng.uniform() < 0.5:
        still = gf.Attractor(place(), strength=50.0), gf.Turbulence(50.0, float(rng.uniform(0.01, 3.0)))
        fluid.forces.add(pick(gf.Wind((5.0, 0.0, 0.0)), gf.Vortex(place()), *still))
    return fluid


def run_random(seed: int, backend: str, steps: int = 4, ctx: Any = None) -> None:
    """Step a random scene; every number of it is finite."""
    with random_scene(seed, backend, ctx) as fluid:
        for n in range(steps):
            for obstacle in fluid.obstacles:
                obstacle.position = tuple(np.asarray(obstacle.position) + 0.02 * n)
            fluid.step((0.01, 0.1, 0.5)[n % 3])
        for name in ("velocity", "density", "temperature", "fuel", "pressure", "color"):
            assert np.isfinite(getattr(fluid, name).read()).all(), (seed, name)
