"""Random pictures as short programs in Python: what is drawn is text, so what a failure prints is what ran.

The world of a program can be moved, turned and mirrored as a whole: its picture is then the same, or its
mirror image. Places are multiples of a 256th in cells of an eighth: single precision holds them everywhere.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import moderngl
import numpy as np
from fuzz import Dice

import gpufluid as gf

H = 1 / 8
CELLS = (
    (8, 10, 6),
    (10, 6, 8),
    (6, 8, 6),
)  # even, as light beside the sun is kept in cells of twice the size


class Motion(NamedTuple):
    """What is done to a world: mirrored across x = 0, turned about y by quarters, moved `by` metres."""

    mirrored: bool = False
    quarters: int = 0
    by: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def matrix(self) -> Any:
        matrix = np.diag([-1.0 if self.mirrored else 1.0, 1.0, 1.0])
        for _ in range(self.quarters):
            matrix = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]) @ matrix
        return matrix

    def vector(self, v: Any) -> tuple[float, ...]:
        return tuple((self.matrix @ np.asarray(v) + 0.0).tolist())

    def place(self, p: Any) -> tuple[float, ...]:
        return tuple((self.matrix @ np.asarray(p) + self.by).tolist())

    def extent(self, v: Any) -> tuple[Any, ...]:
        """Lengths along the axes."""
        return tuple((np.abs(self.matrix) @ np.asarray(v)).astype(np.asarray(v).dtype).tolist())

    def values(self, of: Any) -> Any:
        """An array [z, y, x] of cells or [z, y, x, channel]."""
        came = [int(np.argmax(np.abs(row))) for row in self.matrix]
        axes = [2 - came[axis] for axis in (2, 1, 0)]
        turned = of.transpose(*axes, *range(3, of.ndim))
        back = [axis for axis in range(3) if self.matrix[axis, came[axis]] < 0]
        return np.ascontiguousarray(np.flip(turned, [2 - axis for axis in back]))


STILL = Motion()


def clouds(field: Any, seed: int, motion: Motion = STILL) -> None:
    """Write a few round clouds into a field, here and there cut off at once, and 0 elsewhere."""
    rng = np.random.default_rng(seed)
    cells = motion.extent(field.shape[2::-1])  # a quarter gives an axis to the other, and takes that one's
    x, y, z = (np.arange(n) + 0.5 for n in cells)
    values = np.zeros((len(z), len(y), len(x)))
    for _ in range(int(rng.integers(1, 4))):
        center, size = rng.uniform(0.0, cells), rng.uniform(1.0, 3.0)
        off = (x - center[0]) ** 2 + (y[:, None] - center[1]) ** 2 + (z[:, None, None] - center[2]) ** 2
        values += rng.uniform(0.5, 3.0) * np.exp(-off / size**2)
    values *= values > rng.choice([0.1, 0.8])
    if len(field.shape) == 4:
        values = values[..., None] * rng.random(3)
    field.write(motion.values(values).astype(np.float16).astype(np.float32))


class View(NamedTuple):
    """A program that makes a scene, `scene`, of the fluids `boxes`."""

    lines: tuple[str, ...]
    boxes: int

    def text(self, *more: str) -> str:
        """The program as a user would write it, and what more is done to its scene."""
        first = (
            "import gpufluid as gf",
            "from gpufluid.gl.contexts import create_context",
            "from random_pictures import Motion, clouds",
            "ctx = create_context()",
        )
        return "\n".join([*first, *self.lines, *more])

    def begin(self, ctx: moderngl.Context) -> gf.Scene:
        names = NAMES | {"ctx": ctx}
        for line in self.lines:
            exec(line, names)
        scene = names["scene"]
        assert isinstance(scene, gf.Scene)
        return scene


NAMES: dict[str, Any] = {"gf": gf, "clouds": clouds, "Motion": Motion}


class Drawing(Dice):
    """What a seed draws, after a motion of all of it. boxes: how many at most."""

    def __init__(self, seed: int, motion: Motion = STILL, boxes: int = 2) -> None:
        super().__init__(seed)
        self.motion = motion
        self.cells: list[Any] = []
        self.origins: list[Any] = []
        self.open: list[bool] = []  # what all sides of a box are
        self.low, self.high = np.full(3, np.inf), np.full(3, -np.inf)  # of all boxes
        for _ in range(int(self.rng.integers(1, boxes + 1))):
            self.add_box()
        self.size = float(max(self.high - self.low))

    def add_box(self) -> None:
        """One more, beside the last or a little further on."""
        cells = np.array(self.one(*CELLS))
        origin = np.array([self.near(-1, 1) for _ in range(3)])
        if self.cells:
            axis = int(self.rng.integers(3))
            origin = self.origins[-1].copy()
            origin[axis] += self.cells[-1][axis] * H + self.one(0.0, 0.0, 0.25)
        self.cells.append(cells)
        self.origins.append(origin)
        self.low, self.high = np.minimum(self.low, origin), np.maximum(self.high, origin + cells * H)

    def color(self, most: float = 1.0) -> str:
        return repr(tuple(self.near(0, most) for _ in range(3)))

    def inside(self, box: int) -> str:
        low, size = self.origins[box], self.cells[box] * H
        return repr(self.motion.place([o + self.near(0, s) for o, s in zip(low, size, strict=True)]))

    def about(self) -> Any:
        """A place round the middle of all boxes, mostly out of them."""
        return 0.5 * (self.low + self.high) + [self.near(-1.2 * self.size, 1.2 * self.size) for _ in range(3)]

    def direction(self) -> str:
        return repr(self.motion.vector([self.near(-1, 1), self.near(-1, -0.25), self.near(-1, 1)]))

    # -- parts -------------------------------------------------------------------------------------------

    def box(self, number: int) -> list[str]:
        cells, low = self.cells[number], self.origins[number]
        far = self.motion.place(low + cells * H)
        origin = tuple(np.minimum(self.motion.place(low), far).tolist())
        self.open.append(self.chance(0.5))
        side = "gf.Open()" if self.open[-1] else "gf.Wall()"
        grid = f"gf.Grid({self.motion.extent(cells)}, {H}, {origin})"
        lines = [f"boxes.append(gf.Fluid({grid}, gf.Boundaries.all({side}), ctx=ctx))"]
        for name, share in (("density", 0.9), ("temperature", 0.7), ("color", 0.25)):
            seed = int(self.rng.integers(1000))
            if self.chance(share):
                moved = "" if self.motion == STILL else f", {self.motion}"
                lines.append(f"clouds(boxes[{number}].{name}, {seed}{moved})")
        return lines + [self.obstacle(number) for _ in range(self.one(0, 0, 1, 2))]

    def obstacle(self, box: int) -> str:
        size = float(max(self.cells[box])) * H
        sides = self.motion.extent([self.near(0.1 * size, 0.4 * size) for _ in range(3)])
        radius = self.near(0.06 * size, 0.2 * size)
        shape = self.one(
            f"gf.Sphere(radius={radius})",
            f"gf.Box(size={sides})",
            f"gf.Cylinder(radius={radius}, height={sides[1]})",
        )
        looks = {
            "color": self.one(None, self.color()),
            "gloss": self.one(None, self.near(0, 1)),
            "emission": self.one(None, None, self.color()),
            "visible": self.one(None, None, None, False),
        }
        words = "".join(f", {name}={value}" for name, value in looks.items() if value is not None)
        return f"boxes[{box}].obstacles.add(gf.Obstacle({shape}, {self.inside(box)}{words}))"

    def lamp(self) -> str:
        place, color = self.about(), self.color(2.0)
        to = self.motion.vector(0.5 * (self.low + self.high) - place + 0.0625)
        where = f"{self.motion.place(place)}, {color}, {self.near(0.02, 0.3)}"
        return str(
            self.one(
                f"gf.Light({self.direction()}, {color}, (0.0, 0.0, 0.0))",
                f"gf.PointLight({where})",
                f"gf.SpotLight({where}, {to}, {self.near(20, 120)}, {self.near(0, 1)})",
            )
        )

    def smoke(self) -> str:
        words = {
            "extinction": self.one(1.0, 5.0, 40.0),
            "albedo": self.color(),
            "anisotropy": self.one(0.0, 0.0, self.near(-0.9, 0.9)),
            "edge": self.one(0.0, 0.0, 0.2),
            "fade": self.one(0.0, 0.0, 2 * H),
            "soft": self.one(False, False, False, True),
        }
        return f"gf.Smoke({', '.join(f'{name}={value}' for name, value in words.items())})"

    def fire(self) -> str:
        words = f"intensity={self.near(1, 60)}, soot={self.one(0.0, 0.5)}, soft={self.chance(0.3)}"
        return f"gf.Fire({words})" if self.chance(0.4) else "None"

    def camera(self) -> str:
        fov = self.one(35.0, 20.0, 60.0)
        away = self.near(0.5, 3.0) if self.chance(0.8) else self.near(0.02, 0.5)  # else among the smoke
        distance = away * self.size * 0.5 / math.tan(math.radians(0.5 * fov))
        turn = self.one(self.near(-180, 180), 0.0, 90.0, 40.0)
        azimuth = (-turn if self.motion.mirrored else turn) + 90.0 * self.motion.quarters
        up = self.one(self.near(-70, 85), 0.0, self.near(0, 40))
        target = self.motion.place(0.5 * (self.low + self.high) + 3 / 256)  # no ray along the side of a box
        return f"gf.Camera({target}, {distance!r}, {azimuth}, {up}, {fov}, {min(0.01, 0.05 * distance)!r})"

    def picture(self) -> str:
        size = self.one((96, 60), (60, 96), (65, 65))
        ground = self.one("'studio'", "'sky'", "'transparent'", "(0.1, 0.2, 0.3)")
        floor = self.one("", "", f", floor_color={self.color()}")
        method = self.one("view-slices", "ray-march", "axis-slices")
        return f"gf.Picture({size}, background={ground}, method={method!r}{floor})"

    def view(self) -> View:
        """Return the program that the seed draws."""
        lines = ["boxes = []"]
        for number in range(len(self.cells)):
            lines += self.box(number)
        sun = f"gf.Light({self.direction()}, {self.color(4.0)}, {self.color(0.4)})"
        lamps = ", ".join(self.lamp() for _ in range(self.one(0, 0, 1, 2)))
        floor = self.one(None, self.low[1], self.low[1] - 0.25)
        below = None if floor is None else float(floor + self.motion.by[1])
        looks = f"smoke={self.smoke()}, fire={self.fire()}, floor={below}"
        lines.append(
            f"scene = gf.Scene(boxes[0], {self.camera()}, {sun}, lights=[{lamps}], {looks}, "
            f"picture={self.picture()}, others=boxes[1:])"
        )
        return View(tuple(lines), len(self.cells))

    # -- what is done to a scene between two pictures -----------------------------------------------------

    def change(self, boxes: int) -> str:
        """A line that changes the scene, or nothing that is seen."""
        box = int(self.rng.integers(boxes))
        fluid = f"scene.fluids[{box}]"
        by = tuple(int(n) for n in self.rng.integers(-2, 3, 3)) if self.open[box] else (0, 0, 0)
        seed, place = int(self.rng.integers(1000)), self.inside(0)
        return str(
            self.one(
                f"scene.camera.azimuth += {self.near(-40, 40)}",
                f"scene.camera.elevation = {self.near(-60, 60)}",
                f"scene.light.direction = {self.direction()}",
                f"scene.light.ambient = {self.color(0.3)}",
                f"scene.lights = [gf.PointLight({place}, {self.color(2.0)})]",
                "scene.lights = list(scene.lights)[:-1]",
                "scene.smoke.extinction *= 1.001",
                "scene.smoke.visible = not scene.smoke.visible",
                "scene.smoke.soft = not scene.smoke.soft",
                f"scene.smoke.anisotropy = {self.one(0.0, 0.5, -0.3)}",
                f"scene.smoke.fade = {self.one(0.0, H)}",
                f"scene.fire = {self.one(None, 'gf.Fire()', 'gf.Fire(glow=0.0, soot=0.3)')}",
                f"scene.floor = {self.one(None, float(self.low[1]))}",
                f"{fluid}.finish(); clouds({fluid}.density, {seed})",
                f"{fluid}.finish(); clouds({fluid}.color, {seed})",
                f"{fluid}.finish(); {fluid}.density.write(0.0 * {fluid}.density.read())",
                f"{fluid}.step(0.02)",
                f"{fluid}.advance(0.03, 0.5)",
                f"{fluid}.scroll({by})",
                f"{fluid}.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.1), {place}))",
                f"[{fluid}.obstacles.remove(solid) for solid in {fluid}.obstacles[:1]]",
                f"[setattr(solid, 'position', {place}) for solid in {fluid}.obstacles[:1]]",
                f"[setattr(solid, 'color', {self.color()}) for solid in {fluid}.obstacles]",
            )
        )
