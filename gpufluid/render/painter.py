"""Rectangles of a picture through which the shaded volume is seen: what every way to draw it is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

import moderngl
import numpy as np

from gpufluid.contract.backend import release
from gpufluid.contract.layout import FlatLayout
from gpufluid.description.view import MOST_SLICES
from gpufluid.gl.device import Device
from gpufluid.gl.drawing import blend
from gpufluid.gl.fences import draw_to
from gpufluid.gl.field import Field
from gpufluid.gl.uniforms import give
from gpufluid.render.camera import View
from gpufluid.render.light.firelight import SeenFire
from gpufluid.render.noise import noise_texture
from gpufluid.render.occupancy import Occupancy
from gpufluid.render.slabs import Cuts, Rows
from gpufluid.render.subject import FluidLike
from gpufluid.render.volume_source import DEPTH, NOISE, Program, bind, volume_program

THICK = 1.25  # cells, from which on slabs are spread by noise
LIMIT = MOST_SLICES  # in a box that has moved on one more is begun


@dataclass(frozen=True)
class Sight:
    """One picture to draw.

    shaded: what every cell sends towards the eye, and hides. target: to blend over; it does not hold `depth`.
    depth: of the scene, or None. quality: share of the slabs to take, 0 .. 1. occupancy: where there is
    anything to see; None: perhaps everywhere. edge: 1/m: smoke that hides less thins out; 0: it does not.
    fire: what burns there; None: nothing. soft: whether `shaded` holds roots of extinctions.
    depth_part: where the picture lies in `depth`: low corner and size, as shares of it.
    """

    fluid: FluidLike
    view: View
    shaded: Field
    target: moderngl.Framebuffer
    depth: moderngl.Texture | None
    quality: float
    occupancy: Occupancy | None = None
    edge: float = 0.0
    fire: SeenFire | None = None
    soft: bool = False
    depth_part: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the picture, pixels."""
        width, height = self.target.viewport[2:]
        return width, height

    @property
    def fields(self) -> dict[str, Field]:
        """What rays sample, by name."""
        return {"shaded": self.shaded, **({} if self.fire is None else self.fire.heat)}

    @property
    def defines(self) -> Mapping[str, float]:
        """The macros of a shader that samples it."""
        return {"SOFTENED": int(self.soft), **({} if self.fire is None else self.fire.defines)}

    def give_fire(self, program: Program) -> None:
        """Set what ``fire.glsl`` of `program` reads, if there is fire."""
        if self.fire is not None:
            self.fire.give(program)


class Painter:
    """Draws rectangles with programs of its device.

    jitter: share of a thick slab over which noise spreads each of the cuts between slabs, where rays are
    sampled.
    """

    def __init__(self, device: Device, jitter: float) -> None:
        self.device, self.jitter = device, jitter
        ctx = device.ctx
        self.noise = noise_texture(device)
        self.depth_sampler = device.sampler(filtered=False)
        self._slabs = ctx.buffer(reserve=(LIMIT + 1) * 6 * 4, dynamic=True)
        self._vertex_arrays: dict[int, moderngl.VertexArray] = {}

    def program(
        self,
        sight: Sight,
        label: str,
        file: str,
        defines: Mapping[str, float] | None = None,
        volumes: Mapping[str, FlatLayout] | None = None,
        vertex_file: str = "render/slab_vertex.glsl",
    ) -> moderngl.Program:
        """Return fragment shader `file` over the shaded volume, with what every picture needs set in it."""
        program = volume_program(
            self.device,
            sight.fluid,
            label,
            file,
            *sight.fields,
            solids=False,
            vertex_file=vertex_file,
            defines={"EDGED": int(sight.edge > 0.0), **sight.defines, **(defines or {})},
            volumes=volumes,
        )
        values = {
            **ray_uniforms(sight.view, sight.fluid),
            "reach": (1.0, 1.0),
            "depth_scale": sight.view.texture_scale,
            "has_depth": sight.depth is not None,
            "scene_depth": DEPTH,
            "depth_part": sight.depth_part,
            "noise_tile": NOISE,
            "smoke_edge": sight.edge,
        }
        give(program, values)
        sight.give_fire(program)
        return program

    def give_cuts(
        self, program: Program, cuts: Cuts, stack: int, shifts: tuple[float, float], spread: float
    ) -> None:
        """Set what ``cut.glsl`` of `program` reads.

        stack: slabs to a rectangle. shifts: of the noise. spread: as `spread` has it.
        """
        first, thickness, count = cuts
        given = {
            "cuts": (first, thickness, float(stack), float(count)),
            "shifts": shifts,
            "jitter": spread,
        }
        give(program, given)

    def spread(self, cells: float) -> float:
        """The share of a slab so many cells thick over which noise spreads each of its ends.

        One of about a cell is what its ends show: noise would be all that is seen of it.
        """
        return self.jitter * min(max(cells - THICK, 0.0), 1.0)

    def draw(
        self,
        sight: Sight,
        program: moderngl.Program,
        bounds: Rows,
        target: moderngl.Framebuffer | None = None,
        vertices: int = 0,
        /,
        **fields: Field,
    ) -> None:
        """Blend `program` over the picture in the rectangles `bounds`; or write it into another `target`.

        vertices: of the triangles that the program's vertex shader makes of each; 0: of one rectangle.
        """
        ctx = self.device.ctx
        self._slabs.write(bounds.tobytes())
        with bind(self.device, program, **sight.fields, **fields), self._textures(sight):
            if target is None:
                draw_to(sight.target)
                blend(ctx, moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA)
            else:
                draw_to(target)
                ctx.enable_only(moderngl.NOTHING)
            mode = moderngl.TRIANGLES if vertices else moderngl.TRIANGLE_STRIP
            self._vertex_array(program).render(mode, vertices or 4, instances=len(bounds))
            ctx.enable_only(moderngl.NOTHING)

    def timed(self, sight: Sight, label: str) -> AbstractContextManager[None]:
        """Time what is drawn inside among the passes of the fluid, while those are timed."""
        return (sight.fluid.device or self.device).timed(label)

    @contextmanager
    def _textures(self, sight: Sight) -> Iterator[None]:
        self.noise.use(NOISE)
        (sight.depth or self.device.blank()).use(DEPTH)
        self.depth_sampler.use(DEPTH)
        try:
            yield
        finally:
            self.depth_sampler.clear(DEPTH)
            self.device.blank().use(DEPTH)  # without that sampler a depth texture is one to compare with

    def _vertex_array(self, program: moderngl.Program) -> moderngl.VertexArray:
        if program.glo not in self._vertex_arrays:
            # a program that does not know one of these is given the rest
            known = [name for name in ("bounds", "interval") if name in program]
            layout = {"bounds": "4f", "interval": "2f"}
            form = " ".join(layout[n] if n in known else "8x" for n in layout) + "/i"
            self._vertex_arrays[program.glo] = self.device.ctx.vertex_array(
                program, [(self._slabs, form, *known)]
            )
        return self._vertex_arrays[program.glo]

    def release(self) -> None:
        """Release what it draws with."""
        release(*self._vertex_arrays.values(), self._slabs, self.depth_sampler, self.noise)
        self._vertex_arrays.clear()


def ray_uniforms(view: View, fluid: FluidLike) -> dict[str, list[tuple[float, ...]]]:
    """The rays of `view` in cells of `fluid`: at the picture's centre, and per x and y of it."""
    grid, rays = fluid.grid, view.rays
    origin = rays.origin / grid.cell_size
    origin[0] -= np.array(grid.origin) / grid.cell_size
    return {
        "ray_origin": [tuple(row) for row in origin],
        "ray_direction": [tuple(row) for row in rays.direction / grid.cell_size],
    }


def eye_of(view: View, fluid: FluidLike) -> tuple[float, float, float]:
    """Where the viewer stands, in cells of `fluid`; with parallel rays the way there, of length 1."""
    rays, grid = view.rays, fluid.grid
    place = (rays.origin[0] - grid.origin) / grid.cell_size
    x, y, z = (place if view.is_perspective else -rays.direction[0]).tolist()
    return x, y, z


def eye_uniforms(view: View, fluid: FluidLike) -> dict[str, object]:
    """Where the viewer stands, as `eye_of` says, and whether rays are parallel."""
    return {"eye": eye_of(view, fluid), "parallel_view": not view.is_perspective}
