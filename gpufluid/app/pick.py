"""What lies under the pointer: rays against shapes, planes to drag in, and outlines. No window in here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpufluid.common.vectors import Floats, Triple
from gpufluid.description.mesh import Mesh
from gpufluid.description.shapes import BOX, HALF_SPACE, ROUND, Analytic, Plane
from gpufluid.description.sources import Array, Bezier, Image, Line, Surface
from gpufluid.description.user_forces import Attractor, Turbulence, Vortex, Wind
from gpufluid.description.view import Camera, SpotLight
from gpufluid.engine.fluid import Fluid
from gpufluid.io.motion import sum_of_densities
from gpufluid.render.camera import view_of

STEPS = 96  # of a ray on its way to a shape
CLOSE = 1e-4  # metres from a shape's surface that count as on it
ROUND_PARTS = 32  # straight parts of a circle
HANDLE = 0.02  # radius of the ball that stands for a thing without a shape, lengths of the box
PLACED = (Wind, Vortex, Attractor, Turbulence)  # forces with a center and a radius
FAINT = 0.05  # share of the largest density below which smoke holds no hand


@dataclass(frozen=True)
class Ray:
    """A ray: origin [3], metres, and direction [3] of length 1."""

    origin: Floats
    direction: Floats

    def at(self, distance: float) -> Floats:
        """The point so far along, [3]."""
        point: Floats = self.origin + distance * self.direction
        return point

    def meets(self, point: Floats, normal: Floats) -> Floats | None:
        """Where it meets a plane in front of its origin, or None."""
        along = float(self.direction @ normal)
        if abs(along) < 1e-6:
            return None
        distance = float((point - self.origin) @ normal) / along
        return self.at(distance) if distance > 0.0 else None


def ray_through(camera: Camera, aspect: float, x: float, y: float) -> Ray:
    """The ray through the point (x, y) of the picture, each -1 .. 1, y up."""
    rays = view_of(camera, aspect).rays
    weights = np.array([1.0, x, y])
    direction = weights @ rays.direction
    return Ray(weights @ rays.origin, direction / np.linalg.norm(direction))


def extent(shape: Any) -> tuple[Triple, Triple]:
    """Where a shape has its middle, and half its size along x, y, z; metres, in its own space."""
    if isinstance(shape, Analytic):
        form = shape.form
        core = np.array(form.core)
        if form.kind == ROUND:
            core = core[[0, 1, 0]]
        if form.kind == HALF_SPACE:
            core = core + 0.1
        half = np.abs(form.place[:3, :3]) @ core + form.rounding
        middle = form.place[:3, 3]
    else:
        if isinstance(shape, Mesh | Surface):
            low, high = (shape.mesh if isinstance(shape, Surface) else shape).bounds
        elif isinstance(shape, Image):
            across = np.array([*shape.size, 0.02 * min(shape.size)])
            low, high = np.array(shape.center) - 0.5 * across, np.array(shape.center) + 0.5 * across
        elif isinstance(shape, Line | Bezier):
            low, high = shape.path.min(0) - shape.radius, shape.path.max(0) + shape.radius
        else:
            return (0.0, 0.0, 0.0), (0.1, 0.1, 0.1)
        middle, half = 0.5 * (np.asarray(low) + high), 0.5 * (np.asarray(high) - low)
    return tuple(map(float, middle)), tuple(map(float, half))  # type: ignore[return-value]  # three each


def place_of(thing: Any, fluid: Fluid) -> Floats:
    """Local space to the world, [4, 4]; emitters and forces of a 2D fluid lie in its one slice."""
    flat, slice_middle = fluid.grid.dimensions == 2, 0.5 * (fluid.grid.origin[2] + fluid.grid.upper[2])
    if hasattr(thing, "matrix"):
        matrix: Floats = np.array(thing.matrix)
        if flat and hasattr(thing, "density"):
            middle = (matrix @ [*extent(thing.shape)[0], 1.0])[2]
            matrix[2, 3] += slice_middle - middle
        return matrix
    matrix = np.eye(4)
    matrix[:3, 3] = anchor(thing)
    if flat and isinstance(thing, PLACED):
        matrix[2, 3] = slice_middle
    return matrix


def anchor(thing: Any) -> tuple[float, float, float]:
    """The field that says where a thing is."""
    found: tuple[float, float, float] = getattr(thing, anchor_name(thing) or "position", (0.0, 0.0, 0.0))
    return found


def anchor_name(thing: Any) -> str | None:
    """The name of the field that says where a thing is: position or center; None: it is nowhere."""
    return next((name for name in ("position", "center") if getattr(thing, name, None) is not None), None)


def hit(thing: Any, fluid: Fluid, ray: Ray) -> float | None:
    """How far along `ray` it meets an emitter, obstacle, force or light; None where it passes."""
    shape = getattr(thing, "shape", None)
    if anchor_name(thing) is None or isinstance(shape, Array | Plane):
        return None
    to_local = np.linalg.inv(place_of(thing, fluid))
    # not made a unit vector: so distances along the local ray are those along the ray itself
    origin, direction = to_local[:3, :3] @ ray.origin + to_local[:3, 3], to_local[:3, :3] @ ray.direction
    if isinstance(shape, Mesh | Surface):
        return _hit_mesh(shape if isinstance(shape, Mesh) else shape.mesh, origin, direction)
    speed = float(np.linalg.norm(direction))
    far = float(np.linalg.norm(ray.origin - np.array(fluid.grid.origin))) + 4.0 * max(fluid.grid.size)
    along = 0.0
    for _ in range(STEPS):
        distance = _distance(shape, origin + along * direction, fluid)
        if distance < CLOSE:
            return along
        along += distance / speed
        if along > far:
            break
    return None


def _distance(shape: Any, point: Floats, fluid: Fluid) -> float:
    """From `point` to the surface of a shape, metres in its own space; below 0 inside."""
    if isinstance(shape, Analytic):
        form = shape.form
        p = form.place[:3, :3].T @ (point - form.place[:3, 3])
        profiles = {
            BOX: np.abs(p),
            ROUND: np.array([np.hypot(p[0], p[2]), abs(p[1]), 0.0]),
            HALF_SPACE: np.array([0.0, p[1], 0.0]),
        }
        over = profiles[form.kind] - form.core
        return float(np.linalg.norm(np.maximum(over, 0.0))) - form.rounding
    if isinstance(shape, Line | Bezier):
        a, b = shape.path[:-1], shape.path[1:]
        step = b - a
        length = np.maximum((step * step).sum(1), 1e-30)
        share = np.clip(((point - a) * step).sum(1) / length, 0.0, 1.0)
        nearest = np.linalg.norm(point - a - share[:, None] * step, axis=1).min()
        return float(nearest) - shape.radius
    if shape is None:  # a force or a light: a small ball
        return float(np.linalg.norm(point)) - HANDLE * max(fluid.grid.size)
    middle, half = extent(shape)
    return float(np.linalg.norm(np.maximum(np.abs(point - middle) - half, 0.0)))


def _hit_mesh(mesh: Mesh, origin: Floats, direction: Floats) -> float | None:
    """Where a ray meets a mesh first (Moeller & Trumbore 1997)."""
    a, b, c = np.moveaxis(mesh.vertices[mesh.triangles], 1, 0)
    ab, ac = b - a, c - a
    p = np.cross(direction, ac)
    volume = (ab * p).sum(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = origin - a
        u = (t * p).sum(1) / volume
        q = np.cross(t, ab)
        v = (q @ direction) / volume
        along = (ac * q).sum(1) / volume
        good = (volume != 0.0) & (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (along > 0.0)
    return float(along[good].min()) if good.any() else None


def depth_for_hand(fluid: Fluid, ray: Ray, forward: Floats) -> tuple[Floats, Floats]:
    """Point and normal of the plane a hand works in: through the densest smoke on the ray, facing the viewer.

    Without smoke there, through the middle of the box; in 2D it is the slice.
    """
    grid = fluid.grid
    low, size = np.array(grid.origin), np.array(grid.size)
    middle = low + 0.5 * size
    if grid.dimensions == 2:
        return middle, np.array([0.0, 0.0, 1.0])
    # never 0: a ray along a side of the box would be 0 / 0 there, and miss it
    direction = np.where(ray.direction == 0.0, 1e-30, ray.direction)
    ends = np.stack([(low - ray.origin) / direction, (low + size - ray.origin) / direction])
    enter, leave = max(float(ends.min(0).max()), 0.0), float(ends.max(0).min())
    if leave > enter:
        density = sum_of_densities(fluid)
        along = np.linspace(enter, leave, 2 * max(grid.cells))
        points = ray.origin + along[:, None] * ray.direction
        x, y, z = np.clip(((points - low) / grid.cell_size).astype(int), 0, np.array(grid.cells) - 1).T
        found = density[z, y, x]
        if found.max() > FAINT * float(density.max()):
            return points[found.argmax()], forward
    return middle, forward


def outline(thing: Any, fluid: Fluid) -> list[Floats]:
    """Lines round an emitter, obstacle, force or light, each [n, 3], metres in the world."""
    if anchor_name(thing) is None:
        return []
    shape = getattr(thing, "shape", None)
    matrix = place_of(thing, fluid)
    if isinstance(shape, Analytic):
        lines = [line @ shape.form.place[:3, :3].T + shape.form.place[:3, 3] for line in _form_lines(shape)]
    elif isinstance(shape, Line | Bezier):
        lines = [shape.path]
    elif isinstance(shape, Array):
        return box_lines(fluid)
    elif shape is None:
        radius = thing.radius if isinstance(thing, PLACED) else 0.0
        lines = _rings(max(radius, HANDLE * max(fluid.grid.size)))
        if isinstance(thing, SpotLight):
            lines += _cone(thing, 0.25 * max(fluid.grid.size))
    else:
        middle, half = extent(shape)
        lines = [line * half + middle for line in _cube()]
    return [line @ matrix[:3, :3].T + matrix[:3, 3] for line in lines]


def box_lines(fluid: Fluid) -> list[Floats]:
    """The edges of the box of fluid."""
    half = 0.5 * np.array(fluid.grid.size)
    return [(line + 1.0) * half + fluid.grid.origin for line in _cube()]


def _form_lines(shape: Any) -> list[Floats]:
    """The outline of a shape in the space of its form."""
    form = shape.form
    core, r = np.array(form.core), form.rounding
    if form.kind == HALF_SPACE:
        square = np.array([(-1, 0, -1), (1, 0, -1), (1, 0, 1), (-1, 0, 1), (-1, 0, -1)], float)
        return [0.25 * square, np.array([(0, 0, 0), (0, 0.15, 0)], float)]
    if not core.any():
        return _rings(r)
    if form.kind == BOX and not r:
        return [line * core for line in _cube()]
    # a cylinder, or a capsule
    low, high = (np.array([0.0, y, 0.0]) for y in (-core[1], core[1]))
    ends = [_circle(1) * (r or core[0]) + end for end in (low, high)]
    sides = [np.stack([ends[0][i], ends[1][i]]) for i in range(0, ROUND_PARTS, ROUND_PARTS // 4)]
    halves = [_circle(axis) * r for axis in ((0, 2) if r else ())]
    return ends + sides + [np.where(ring[:, 1:2] >= 0.0, ring + high, ring + low) for ring in halves]


def _circle(axis: int) -> Floats:
    """A circle of radius 1 across `axis`, [n, 3], closed."""
    angle = np.linspace(0.0, 2.0 * np.pi, ROUND_PARTS + 1)
    points = np.zeros((ROUND_PARTS + 1, 3))
    points[:, (axis + 1) % 3], points[:, (axis + 2) % 3] = np.cos(angle), np.sin(angle)
    return points


def _cone(light: SpotLight, length: float) -> list[Floats]:
    """The cone of a spot light, up to `length` m from it."""
    axis = np.array(light.direction) / np.linalg.norm(light.direction)
    # the way that is the most across it, and the one across both
    aside = np.cross(axis, np.eye(3)[np.abs(axis).argmin()])
    aside /= np.linalg.norm(aside)
    half = math.radians(0.5 * light.angle)
    ring = _circle(2) @ np.stack([aside, np.cross(axis, aside), axis])
    ring = length * (math.cos(half) * axis + math.sin(half) * ring)
    return [ring, *(np.stack([np.zeros(3), ring[i]]) for i in range(0, ROUND_PARTS, ROUND_PARTS // 4))]


def _rings(radius: float) -> list[Floats]:
    return [_circle(axis) * radius for axis in range(3)]


def _cube() -> list[Floats]:
    """The edges of the cube from -1 to 1: two squares and what joins them."""
    square = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)], float)
    near, far = (np.insert(square, 2, z, axis=1) for z in (-1.0, 1.0))
    return [near, far, *(np.stack([near[i], far[i]]) for i in range(4))]
