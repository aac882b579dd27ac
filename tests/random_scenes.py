"""Random scenes as short programs in Python: what is drawn is text, so what a failure prints is what ran.

Places are multiples of a 256th in cells of an eighth, which single precision holds on both sides of a mirror.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from fuzz import Dice

import gpufluid as gf

H = 1 / 8
GRIDS = (
    (8, 8, 8),
    (7, 9, 5),
    (12, 10, 1),
    (9, 1, 6),
    (1, 7, 5),
    (1, 1, 4),
    (2, 2, 2),
    (13, 11, 1),
    (6, 10, 4),
)
EVEN = ((8, 8, 8), (12, 10, 1), (6, 10, 4))  # which half as many cells can have


class Step(NamedTuple):
    """What a scene changes before a step, and how long that is."""

    changes: tuple[str, ...]
    dt: float


class Scene(NamedTuple):
    """A program: how it makes a fluid on a `backend`, puts things into it, and goes on step by step."""

    fluid: str
    things: tuple[str, ...]
    steps: tuple[Step, ...]

    def text(self, backend: str, steps: int) -> str:
        """The program up to a number of steps, as a user would write it (`noise` is below)."""
        lines = [f"fluid = {self.fluid[:-1]}, backend={backend!r})", *self.things]
        for changes, dt in self.steps[:steps]:
            lines += [*changes, f"fluid.step({dt})"]
        return "\n".join(["import gpufluid as gf", "from random_scenes import Own, grains, noise", *lines])

    def begin(self, backend: str, ctx: Any = None) -> gf.Fluid:
        """Return the fluid on `backend` as it is before the first step."""
        fluid = eval(f"{self.fluid[:-1]}, backend={backend!r}, ctx=ctx)", NAMES | {"ctx": ctx})
        run(self.things, fluid)
        return fluid


def run(lines: tuple[str, ...], fluid: gf.Fluid) -> None:
    """Do what a program says to its fluid."""
    for line in lines:
        exec(line, NAMES | {"fluid": fluid})


class Own:
    """A pressure solver of a user's: three sweeps, and an error in one of its solves (0: in none)."""

    fails = 0

    def solve(self, problem: Any) -> None:
        for _ in range(3):
            problem.jacobi(0.8)
        self.fails -= 1
        if self.fails == 0:
            raise RuntimeError("it failed")


def grains(seed: int, shape: tuple[int, ...]) -> Any:
    """Return an array from 0 to 1, three in four of it 0."""
    rng = np.random.default_rng(seed)
    return rng.random(shape) * (rng.random(shape) < 0.25)


def noise(field: Any, seed: int, size: float, mirror: int | None = None) -> None:
    """Write smooth noise into a field: of both signs in a velocity and a temperature, else from 0 up."""
    vectors = field.name == "velocity"
    cells = field.at_centers().shape if vectors else field.shape
    values = np.random.default_rng(seed).normal(size=cells)
    for axis in range(3):
        values = 0.5 * values + 0.25 * (np.roll(values, 1, axis) + np.roll(values, -1, axis))
    values = size * values if field.name in ("velocity", "temperature") else np.abs(size * values)
    values = values.astype(np.float16).astype(np.float32)  # the same in textures of any precision
    if mirror is not None:
        values = np.flip(values, 2 - mirror).copy()
        if vectors:
            values[..., mirror] *= -1.0
    (field.write_at_centers if vectors else field.write)(values)


NAMES: dict[str, Any] = {"gf": gf, "noise": noise, "grains": grains, "Own": Own}  # what programs know


class Drawing(Dice):
    """What a seed draws. sort: "any"; "wide", with what backends do each in their way; or scenes for one
    property: "mirror", "closed", "accurate", "failing".

    mirror: the axis across which the scene is drawn as a mirror shows it.
    """

    def __init__(self, seed: int, sort: str = "any", mirror: int | None = None) -> None:
        super().__init__(seed)
        self.seed, self.sort, self.mirror = seed, sort, mirror
        self.coarse = self.chance(0.2) and sort != "accurate"  # fine cells have the divergence of the coarse
        self.cells = self.one(*(EVEN if self.coarse else GRIDS))
        self.axes = 2 if self.cells[2] == 1 else 3
        self.solids = 0
        self.wide = sort in ("wide", "failing")
        self.inflows: list[str] = []

    def turned(self, v: list[float], vector: bool = True, axial: bool = False) -> str:
        """A place, a vector, or an axis about which something turns, as the mirror shows it."""
        if self.mirror is not None:
            for axis in range(3):
                if (axis == self.mirror) != axial:
                    v[axis] = -v[axis] if vector else self.cells[axis] * H - v[axis]
        return repr(tuple(x + 0.0 for x in v))

    def vector(self, size: float = 1.0, along: int | None = None, axial: bool = False) -> str:
        """A vector; along: the axis that it does not go along."""
        v = [self.near(-size, size) for _ in range(3)]
        if along is not None:
            v[along] = 0.0
        return self.turned(v, axial=axial)

    def place(self) -> str:
        margin = -0.1 if self.sort != "mirror" else 0.1
        return self.turned([self.near(margin * n * H, (1 - margin) * n * H) for n in self.cells], False)

    # -- parts -------------------------------------------------------------------------------------------

    def side(self, axis: int, end: int) -> str:
        kinds = {"closed": ["wall"], "accurate": ["wall", "open"]}.get(self.sort, ["wall", "open", "inflow"])
        kind = self.one(*kinds)
        if kind == "open":
            return "gf.Open()"
        if kind == "inflow":
            heat = self.one(", density=0.5", ", temperature=1.0", "")
            self.inflows.append(("left", "right", "bottom", "top", "back", "front")[2 * axis + end])
            return f"gf.Inflow({self.vector()}{heat})"
        warm = self.one("", "", ", temperature=0.5")
        # two walls that move and meet: the higher axis goes last, see test_properties
        speed = f", velocity={self.vector(along=axis)}" if self.sort != "mirror" and self.chance(0.4) else ""
        return f"gf.Wall({self.one('no', 'free')!r}{speed}{warm})"

    def boundaries(self) -> tuple[str, list[bool]]:
        """The sides, and the axes along which the box is periodic."""
        sides, round_ = [], [self.chance(0.6 if n == 1 else 0.3) for n in self.cells]
        for axis in range(3):
            pair = ["gf.Periodic()"] * 2 if round_[axis] else [self.side(axis, end) for end in (0, 1)]
            sides += pair[::-1] if axis == self.mirror else pair
        changing = (self.sort == "any" or self.wide) and self.chance(0.2)
        return f"gf.Boundaries({', '.join(sides)}{', changing=True' if changing else ''})", round_

    def pressure(self) -> str:
        if self.sort == "mirror":
            return "gf.Jacobi(40)"
        if self.sort == "accurate":
            return "gf.ConjugateGradient(400, tolerance=1e-7)"
        if self.sort == "failing":
            return "Own()"
        return self.one(
            "gf.Jacobi(30)", "gf.Jacobi(11, weight=0.8)", "gf.ChebyshevJacobi(20)", "gf.RedBlackSOR(12)",
            "gf.ConjugateGradient(20)", "gf.Multigrid(2)", "gf.Multigrid(1, sweeps=2)",
        )  # fmt: skip

    def settings(self) -> str:
        said: dict[str, Any] = {
            "advection": self.one(
                "maccormack", "semi-lagrangian", "bfecc", "monotone-cubic", "finite-volume"
            ),
            "reflection": self.chance(0.25),
            "trace": self.one("rk2", "euler"),
            "limiter": self.one("clamp", "clamp", None, "revert" if self.sort != "mirror" else "clamp"),
            "cfl": self.one(5.0, 1.0, None) if self.sort != "mirror" else None,
            "vorticity_confinement": self.one(0.0, 0.0, 2.0),
            "buoyancy": self.one(1.0, 4.0),
            "weight": self.one(0.0, 0.5),
            "ambient_temperature": self.one(0.0, 0.0, 0.25),
            "viscosity": self.one(0.0, 0.0, 0.01),
            "thermal_diffusivity": self.one(0.0, 0.0, 0.01),
            "density_diffusivity": self.one(0.0, 0.0, 0.01),
            "cooling": self.one(0.0, 1.0),
            "coarse_velocity": self.coarse,
            "skip_empty": self.chance(0.7),
        }
        fades, burns = self.chance(0.3), self.chance(0.3)
        # a cubic that ends on a centre to the bit asks for solids on one side more; finite volumes take off
        # what is left of the divergence there by sweeps over red cells, then black ones
        uneven = (
            ("monotone-cubic", "finite-volume") if self.coarse or said["reflection"] else ("monotone-cubic",)
        )
        if self.sort == "mirror" and said["advection"] in uneven:
            said["advection"] = "bfecc"
        if self.sort == "closed":
            said["advection"] = "finite-volume"
        elif fades:
            said["density_dissipation"] = 0.5
        usual = gf.Settings()
        words = [f"{k}={v!r}" for k, v in said.items() if v != getattr(usual, k)]
        words.append(f"pressure={self.pressure()}")
        up = self.turned([0.0, 1.0, 0.0])
        words += [f"up={up}"] * (up != "(0.0, 1.0, 0.0)")
        if burns and self.sort not in ("closed", "accurate"):
            words.append("combustion=gf.Combustion(radiation=0.1, expansion_per_burn=2.0)")
        if self.wide:
            own = [
                ("precision", "half"),
                ("sampler", "hardware"),
                ("velocity_advection", "bfecc"),
                ("warm_start", False),
            ]
            words += [f"{name}={value!r}" for name, value in own if self.chance(0.2)]
        return f"gf.Settings({', '.join(words)})"

    def shape(self) -> str:
        size, mesh = 0.4 * H * max(min(self.cells[: self.axes]), 4), self.sort != "mirror"
        radius, sides = self.near(0.3 * size, size), [self.near(0.5 * size, 2 * size) for _ in range(3)]
        return self.one(
            f"gf.Sphere(radius={radius})", f"gf.Box(size={tuple(sides)})",
            f"gf.Cylinder(radius={radius}, height={sides[1]})",
            f"gf.Mesh.icosphere(1, {radius})" if mesh else f"gf.Sphere(radius={radius})",
        )  # fmt: skip

    def words(self, *maybe: tuple[float, Callable[[], str]]) -> str:
        """Some of the words of a call, each with its chance."""
        return "".join(f", {word()}" for share, word in maybe if self.chance(share))

    def emitter(self) -> str:
        gives = self.sort != "closed"
        words = self.words(
            (0.7 * gives, lambda: f"density={self.one(2.0, 5.0)}"),
            (0.6, lambda: f"temperature={self.one(1.0, 2.0)}"),
            (0.4, lambda: f"velocity={self.vector()}"),
            (0.4 * gives, lambda: "fuel=3.0"),
            (0.3 * gives, lambda: "color=(1.0, 0.25, 2.0)"),
            (0.3, lambda: "edge='hard'"),
            (0.2 * (self.sort != "mirror"), lambda: f"noise=0.8, seed={int(self.rng.integers(9))}"),
            (0.3, lambda: f"motion={self.vector()}"),
        )
        if self.wide and self.chance(0.3):
            return f"fluid.emitters.add(gf.Emitter({self.sheet()}{words}))"
        return f"fluid.emitters.add(gf.Emitter({self.shape()}, position={self.place()}{words}))"

    def sheet(self) -> str:
        """A shape that only sources have."""
        seed, mesh = int(self.rng.integers(1000)), f"gf.Mesh.torus({self.near(0.2, 0.4)}, 0.125)"
        return self.one(
            f"gf.Line([{self.place()}, {self.place()}], 0.1)",
            f"gf.Bezier([{', '.join(self.place() for _ in range(4))}], 0.1)",
            f"gf.Surface({mesh}), position={self.place()}",
            f"gf.Plane((0, 0, 0), (0.3, 1.0, {self.near(-1, 1)})), position={self.place()}",
            f"gf.Image(grains({seed}, (5, 4)), size=(0.5, 0.5)), position={self.place()}",
            f"gf.Array(grains({seed}, {self.cells[::-1]}))",
        )

    def obstacle(self) -> str:
        moves = self.sort in ("any", "mirror") or self.wide
        words = self.words(
            (0.3, lambda: "slip='free'"),
            (0.3, lambda: "temperature=1.5"),
            (0.3 * moves, lambda: f"velocity={self.vector()}"),
            (0.2 * moves, lambda: f"spin={self.vector(2.0, axial=True)}"),
            (
                0.3 * (self.sort != "mirror"),
                lambda: f"rotation={tuple(self.near(-1, 1) for _ in range(3))} + (1.0,)",
            ),
        )
        self.solids += 1
        return f"fluid.obstacles.add(gf.Obstacle({self.shape()}, {self.place()}{words}))"

    def force(self) -> str:
        # one that leans has no images: the faces on the side of a periodic box are its low ones
        axis = self.vector(axial=True) if self.sort != "mirror" else self.turned([0.0, 0.0, 1.0], axial=True)
        return "fluid.forces.add({})".format(
            self.one(
                f"gf.Wind({self.vector()}, 2.0)",
                f"gf.Wind({self.vector()}, 5.0, center={self.place()}, radius=0.3)",
                f"gf.Attractor({self.place()}, {self.one(3.0, -3.0)}, 0.3)",
                f"gf.Vortex({self.place()}, {axis}, 3.0, 0.3)",
                "gf.Turbulence(2.0, 0.7, 0.5, seed=5)"
                if self.sort != "mirror"
                else f"gf.Wind({self.vector()})",
            )
        )

    def written(self, name: str) -> str:
        mirror = "" if self.mirror is None else f", mirror={self.mirror}"
        size = self.one(1.5, 1.5, 8.0) if name == "velocity" else 1.5
        return f"noise(fluid.{name}, {int(self.rng.integers(1000))}, {size}{mirror})"

    def changes(self, round_: list[bool]) -> tuple[str, ...]:
        lines, still = [], self.sort in ("closed", "accurate")
        for _ in range(self.one(0, 1, 1, 2)):
            which = int(self.rng.integers(max(self.solids, 1)))
            kind = self.one("move", "move", "obstacle", "remove", "emitter", "scroll", "write", "settings")
            if kind == "move" and self.solids and not still:
                lines.append(f"fluid.obstacles[{which}].position = {self.place()}")
            elif kind == "obstacle" and self.sort != "closed":
                lines.append(self.obstacle())
            elif kind == "remove" and self.solids and self.sort != "closed":
                self.solids -= 1
                lines.append(f"fluid.obstacles.remove(fluid.obstacles[{which}])")
            elif kind == "emitter":
                lines.append(self.emitter())
            elif kind == "scroll" and any(round_[: self.axes]):
                by = [int(self.rng.integers(-2, 3)) * (n < self.axes and round_[n]) for n in range(3)]
                lines.append(
                    f"fluid.scroll({[-n if axis == self.mirror else n for axis, n in enumerate(by)]})"
                )
            elif kind == "write" and self.sort != "closed":
                lines.append(self.written(self.one("velocity", "density", "temperature", "fuel", "color")))
            elif kind == "settings" and self.wide:
                lines.append(self.wide_change(which))
            elif kind == "settings":
                lines.append(f"fluid.settings = fluid.settings.but(viscosity={self.one(0.0, 0.02)})")
        return tuple(lines)

    def wide_change(self, which: int) -> str:
        new = f"fluid.settings = {self.settings()}.but(precision=fluid.settings.precision)"
        solid = f"fluid.obstacles[{which}]"
        moved = [
            f"{solid}.rotation = (0.0, {self.near(-1, 1)}, 0.0, 1.0)",
            f"{solid}.scale = {self.one(0.7, (1.2, 0.6, 0.9))}",
            f"{solid}.shape = {self.shape()}",
            f"{solid}.velocity = {self.vector()}",
        ]
        blows = [
            f"fluid.boundaries = fluid.boundaries.but({side}=gf.Inflow({self.vector()}))"
            for side in self.inflows
        ]
        others = ["fluid.reset()", "fluid.project()", "fluid.forces.add(gf.Wind((1.0, 0.5, 0.0)))"]
        return self.one(new, new, *others, *blows, *(moved if self.solids else []))

    def scene(self) -> Scene:
        """Return the program that the seed draws."""
        sides, round_ = self.boundaries()
        grid = f"gf.Grid({self.cells}, {H})"
        fluid = f"gf.Fluid({grid}, {sides}, {self.settings()})"
        things = [self.emitter() for _ in range(self.one(0, 1, 2))]
        things += [self.obstacle() for _ in range(self.one(0, 1, 1, 2))]
        things += [self.force() for _ in range(self.one(0, 0, 1))]
        fields = ["velocity", "density", "temperature", "fuel", "color"]
        things += [self.written(name) for name in fields if self.chance(0.6)]
        steps = [
            Step(self.changes(round_), self.one(0.03125, 0.0625, 0.125)) for _ in range(self.one(2, 3, 4))
        ]
        return Scene(fluid, tuple(things), tuple(steps))
