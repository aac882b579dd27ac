"""What every view of a flow shares: checks, programs that read a fluid, and how it meets the scene's depth.

A view draws into the viewport of a framebuffer of its own context. What is see-through (particles) only reads
depth. What is opaque (lines, arrows, slices, surfaces) also tests and writes the depth of the target, or,
where the target has none, a depth of its own, so that it hides itself. The scene's `depth` hides either, by
sampling; where that texture hangs in the target itself, which GL cannot read and write at once, the test
does the same. Colours are written as a screen shows them; `linear` for targets that hold linear light.

After the first frame nothing is made anew, as long as fluid, target and look stay the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import moderngl
from numpy.typing import ArrayLike

from gpufluid.common.checks import finite_number, flag
from gpufluid.common.errors import GpufluidError
from gpufluid.contract.backend import release
from gpufluid.contract.kernels import Variant, side_numbers
from gpufluid.description.grid import Grid
from gpufluid.description.view import Camera
from gpufluid.gl.device import Device
from gpufluid.gl.drawing import OverTarget, blend, first_color_alone, hangs_in
from gpufluid.gl.fences import clear, draw_to
from gpufluid.gl.field import Field
from gpufluid.gl.hosts import check_depth, check_target
from gpufluid.gl.kernel_source import box_constants, field_reader
from gpufluid.gl.source import Source
from gpufluid.gl.state import Guest, guard_of
from gpufluid.gl.targets import depth_of, drawable, hang_depth, is_hosts, samples_of, size_of
from gpufluid.gl.uniforms import give
from gpufluid.render.camera import CLIP_Z, View, hosts_view
from gpufluid.render.painter import ray_uniforms
from gpufluid.render.subject import FlowLike, check_context
from gpufluid.render.volume import VolumeRenderer

CameraLike = Camera | View | tuple[ArrayLike, ArrayLike]
KINDS = {
    "velocity": "face",
    "scalars": "cell",
    "solid": "cell",
    "flame": "cell",
    "shown": "cell",
    "pressure": "packed",
}
UNITS = {name: unit for unit, name in enumerate(KINDS)}  # texture units of the fields; others follow
FREE_UNIT, DEPTH_UNIT = len(KINDS), 15


@dataclass(frozen=True)
class Shot:
    """One picture: where it is drawn, how it is seen, and how the scene hides it.

    target: with the viewport `corner`, `size` (pixels). reversed_depth: near things have the larger depth.
    sampled: the scene's depth to be sampled, `depth_corner` the pixel of its first texel. smoke: what drew
    the smoke that hides what is see-through. upside_down: the host's clip space has its origin at the upper
    left.
    """

    target: moderngl.Framebuffer
    view: View
    corner: tuple[int, int]
    size: tuple[int, int]
    reversed_depth: bool
    sampled: moderngl.Texture | None
    depth_corner: tuple[int, int]
    smoke: Sequence[VolumeRenderer] = ()
    upside_down: bool = False


class Overlay(Guest):
    """The base of the views. linear: whether the target holds linear light, not what a screen shows."""

    def __init__(self, ctx: moderngl.Context, *, linear: bool = False) -> None:
        self.ctx, self.linear = ctx, flag(linear, f"{type(self).__name__}.linear")
        self.device = Device(ctx, "fragment")
        self._depth_sampler = self.device.sampler(filtered=False)
        self._fields: dict[str, Field] = {}
        self._arrays: dict[object, moderngl.VertexArray] = {}
        self._color_only, self._with_depth = OverTarget(), OverTarget()
        self._shape: object = None
        self._released = False

    @property
    def opaque(self) -> bool:
        """Whether it hides what is behind it, and writes depth."""
        return True

    @property
    def _upside_down(self) -> bool:
        """Whether what the host draws in this call has its origin at the upper left."""
        return guard_of(self.ctx).upside_down

    # -- checks ------------------------------------------------------------------------------------------

    def check_fluid(self, fluid: FlowLike) -> None:
        """Raise GpufluidError for a fluid without textures, or in another context than this view."""
        name = type(self).__name__
        if self._released:
            raise GpufluidError(f"this {name} was released")
        check_context(fluid, self.ctx, f"this {name}")
        if getattr(fluid, "released", False):  # which a host's own kind of fluid need not tell
            raise GpufluidError("this Fluid was released")

    def check_target(self, target: moderngl.Framebuffer) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return corner and size of the viewport; raises GpufluidError where nothing can be drawn."""
        name = type(self).__name__
        check_target(target, self.ctx, f"this {name}")
        x, y, width, height = target.viewport
        return (x, y), (width, height)

    def shot(
        self,
        camera: CameraLike,
        target: moderngl.Framebuffer,
        depth: moderngl.Texture | None,
        clip_z: tuple[float, float] = CLIP_Z[0],
        smoke: Sequence[VolumeRenderer] = (),
    ) -> Shot:
        """Check and put together what a picture takes.

        Raises GpufluidError for a bad camera, a target that nothing can be drawn to, a depth texture that is
        none, or that has neither the size of the viewport nor of the target.
        """
        corner, size = self.check_target(target)
        view = hosts_view(self.ctx, camera, size[0] / size[1], clip_z)
        name = type(self).__name__
        depth_corner = corner
        if depth is not None:
            check_depth(depth, self.ctx, f"this {name}")
            if depth.size == (target.width, target.height):
                depth_corner = (0, 0)
            elif depth.size != size:
                raise GpufluidError(
                    f"{name}.render: the depth texture must have the size of the target, "
                    f"{target.width} x {target.height}, or of its viewport, {size[0]} x {size[1]}, "
                    f"got {depth.size[0]} x {depth.size[1]}"
                )
        near, far = (_picture_depth(view, d) for d in (1.0, 2.0))
        reversed_depth = near > far
        hangs = hangs_in(depth, target)
        opaque = self.opaque
        if opaque and not depth_of(target).kind:
            target = self._with_own_depth(target, reversed_depth)
        elif hangs and not opaque:
            target = self._color_only.color(target)
        if hangs and opaque:
            depth = None  # the test does it
        turned = view is not camera and self._upside_down
        return Shot(target, view, corner, size, reversed_depth, depth, depth_corner, smoke, turned)

    def _with_own_depth(self, target: moderngl.Framebuffer, reversed_depth: bool) -> moderngl.Framebuffer:
        """`target` with a depth of this view's own, cleared."""

        def make() -> list[Any]:
            depth = self.ctx.depth_renderbuffer(size_of(target), samples=samples_of(target))
            alone = self.ctx.framebuffer([], depth)
            deep = [] if is_hosts(target) else [self.ctx.framebuffer(target.color_attachments[:1], depth)]
            return [*deep, alone, depth]

        *deep, alone, depth = self._with_depth.of(target, make)
        clear(alone, depth=0.0 if reversed_depth else 1.0)
        if not deep:
            hang_depth(target, depth)
            return target
        assert isinstance(deep[0], moderngl.Framebuffer)
        return deep[0]

    # -- programs ------------------------------------------------------------------------------------------

    def program(
        self,
        label: str,
        fluid: FlowLike,
        fragment: str,
        *fields: str,
        vertex: str | None = None,
        sampler: str = "exact",
        solids: bool | None = None,
        defines: Mapping[str, int] | None = None,
        layout: str | None = None,
    ) -> moderngl.Program:
        """Return the program of two files of ``glsl/render/``; compiled once for each grid and its sides.

        fields: of KINDS, read in the fragment shader. vertex: None covers the viewport. sampler: "exact", or
        "hardware" for filtered taps. solids: whether it knows solids; None: where the fluid has some.
        layout: the kind of layout it writes, where that is another than those it reads.
        """
        has_solids = fluid.solid_field is not None if solids is None else solids
        given = tuple(sorted((defines or {}).items()))
        grid = fluid.grid.local  # a box that moves needs no other program
        key = (label, fragment, vertex, grid, fluid.boundaries.form, fields, has_solids, sampler, given)

        def make() -> moderngl.Program:
            dimensions = fluid.grid.dimensions
            variant = Variant(solids=has_solids, sampler=sampler, boundaries=fluid.boundaries.form)
            named = {**variant.defines(dimensions), **self.device.defines, **dict(given)}

            def begun(stage: str) -> Source:
                source = Source(stage, 330).define(named).add(box_constants(fluid.grid), "<box>")
                return source.add(variant.constants(dimensions), "<variant>")

            source = begun(label).include("lib/between.glsl")
            reading = "nearest" if self.device.software else "texel"
            read = (*fields, "solid") if has_solids and "solid" not in fields else fields
            kinds = [KINDS[name] for name in read] + ([layout] if layout else [])
            for kind in dict.fromkeys(kinds):
                source.add(fluid.layouts[kind].glsl(kind), "<layout>")
            for name in read:
                kind = KINDS[name]
                filtered = sampler == "hardware" and kind != "packed"
                text = field_reader(name, kind, fluid.layouts[kind], UNITS[name], reading, filtered=filtered)
                source.add(text, "<fields>")
            source.include(f"render/{fragment}.glsl")
            stage = None
            if vertex is not None:
                stage = begun(f"{label} (vertex)").include(f"render/{vertex}.glsl")
            return self.device.fragment_program(source, stage)

        program = self.device.keep(key, make)
        give(program, side_numbers(fluid.boundaries))
        return program

    def array(self, program: moderngl.Program, content: Sequence[Any] = ()) -> moderngl.VertexArray:
        """The vertex array of `program` over `content`, as moderngl takes it; made once."""
        key = program.mglo, *(c[0].mglo for c in content)
        if key not in self._arrays:
            self._arrays[key] = self.ctx.vertex_array(program, list(content))
        return self._arrays[key]

    @contextmanager
    def bound(
        self,
        program: moderngl.Program,
        fields: Mapping[str, Field | None] | None = None,
        textures: Mapping[str, moderngl.Texture] | None = None,
        *,
        filtered: bool = False,
        smooth: Sequence[str] = (),
    ) -> Iterator[None]:
        """Bind what `program` reads while the body runs: fronts of `fields`, and other `textures` by name.

        filtered: whether fields are; smooth: textures of bytes that are. The others are read texel by texel.
        """
        units, device = [], self.device
        fine = device.between if filtered else self._depth_sampler
        pairs = [(name, f.front, UNITS[name], fine) for name, f in (fields or {}).items() if f]
        for unit, (name, texture) in enumerate((textures or {}).items(), FREE_UNIT):
            pairs.append((name, texture, unit, device.linear if name in smooth else self._depth_sampler))
        for name, texture, unit, sampler in pairs:
            if program.get(name, None) is not None:
                give(program, {name: unit})
                texture.use(unit)
                sampler.use(unit)
                units.append(unit)
        try:
            yield
        finally:
            for unit in units:
                device.linear.clear(unit)

    def _fill(
        self,
        target: moderngl.Framebuffer,
        program: moderngl.Program,
        fields: Mapping[str, Field | None] | None = None,
        textures: Mapping[str, moderngl.Texture] | None = None,
        *,
        filtered: bool = False,
    ) -> None:
        """Write every texel of `target` by `program`; the rest as for `bound`."""
        draw_to(target)
        self.ctx.enable_only(moderngl.NOTHING)
        with self.bound(program, fields, textures, filtered=filtered):
            self.device.cover(program)

    @contextmanager
    def drawing(self, program: moderngl.Program, shot: Shot) -> Iterator[None]:
        """Set target, state and the scene's depth for `program` while the body draws."""
        ctx = self.ctx
        opaque = self.opaque
        give(
            program,
            {
                "has_depth": shot.sampled is not None,
                "scene_depth": DEPTH_UNIT,
                "depth_corner": shot.depth_corner,
                "depth_reversed": shot.reversed_depth,
                "depth_scale": shot.view.texture_scale,
                "picture_corner": shot.corner,
                "picture_size": shot.size,
                "linear_light": self.linear,
            },
        )
        (shot.sampled or self.device.blank()).use(DEPTH_UNIT)
        self._depth_sampler.use(DEPTH_UNIT)
        draw_to(shot.target)
        switches = moderngl.DEPTH_TEST if opaque else moderngl.NOTHING
        blend(ctx, moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA, switches=switches)
        if opaque:
            ctx.depth_func = ">" if shot.reversed_depth else "<"
        try:
            yield
        finally:
            ctx.enable_only(moderngl.NOTHING)
            ctx.depth_func = "<"
            self._depth_sampler.clear(DEPTH_UNIT)
            self.device.blank().use(DEPTH_UNIT)  # without that sampler a depth texture is one to compare with

    # -- what is kept --------------------------------------------------------------------------------------

    def kept_field(self, name: str, fluid: FlowLike, kind: str = "cell") -> Field:
        """A field of this view's own, one buffer in single precision, made once for each grid."""
        self._follow(fluid)
        if name not in self._fields:
            self._fields[name] = Field(self.device, name, fluid.layouts[kind], 4, "f4", 1)
        return self._fields[name]

    def _follow(self, fluid: FlowLike) -> None:
        """Drop what was made for another grid."""
        shape = fluid.grid.local, fluid.layouts["cell"]
        if self._shape != shape:
            release(*self._fields.values())
            self._fields.clear()
            self._shape = shape

    def release(self) -> None:
        """Release everything made in the context; idempotent."""
        if self._released:
            return
        self._released = True
        release(*self._fields.values(), *self._arrays.values(), self._color_only, self._with_depth)
        self._fields.clear()
        self._arrays.clear()
        release(self._depth_sampler, self.device)


class InScene(Overlay, ABC):
    """The base of the views that stand in the scene: seen by a camera, and hidden by what is before them."""

    def render(
        self,
        fluid: FlowLike,
        camera: CameraLike,
        target: moderngl.Framebuffer,
        depth: moderngl.Texture | None = None,
        clip_z: tuple[float, float] = CLIP_Z[0],
    ) -> None:
        """Draw it. camera, depth, clip_z: as in `VolumeRenderer.render`; raises as it does."""
        self._render(fluid, camera, target, depth, clip_z)

    def _render(
        self,
        fluid: FlowLike,
        camera: CameraLike,
        target: moderngl.Framebuffer,
        depth: moderngl.Texture | None,
        clip_z: tuple[float, float],
        smoke: Sequence[VolumeRenderer] = (),
    ) -> None:
        """Draw it. smoke: as in `Shot`."""
        self.check_fluid(fluid)
        self.check()
        fluid.voxelize()
        if 0 in self.check_target(target)[1]:
            return  # a minimised window
        with drawable(target) as target, first_color_alone(target):
            self.draw(fluid, self.shot(camera, target, depth, clip_z, smoke), target)

    def check(self) -> None:
        """Raise GpufluidError naming the first value that nothing can be drawn with."""

    @abstractmethod
    def draw(self, fluid: FlowLike, shot: Shot, target: moderngl.Framebuffer) -> None:
        """Draw it as `shot` says; `target` as it was given, for what lies over the picture."""


class KeepsPlaces(InScene, ABC):
    """The base of the views that keep places from frame to frame, in textures, in cells of the box."""

    _grid: Grid | None = None  # of the box in which the places are

    @abstractmethod
    def reset(self) -> None:
        """Forget all places."""

    @abstractmethod
    def _places(self) -> tuple[list[moderngl.Texture], list[moderngl.Framebuffer]]:
        """The two textures, xyz of which are places, and what writes them; in front what is read."""

    def _settle(self, fluid: FlowLike) -> None:
        """Have the places in the box as it stands now: where it was moved they stay in the world."""
        before, self._grid = self._grid, fluid.grid
        if before is None or before == fluid.grid:
            return
        if before.local != fluid.grid.local:
            self.reset()
            return
        program = self.device.program_of("places", "render/places_fragment.glsl", "render/cover_vertex.glsl")
        give(program, {"gone": fluid.grid.cells_from(before)})
        self._write(program, None, "places")

    def _passed(self, fluid: FlowLike, dt: float) -> float:
        """Return `dt` checked, with the view and its places ready to go on by it in `fluid`."""
        self.check_fluid(fluid)
        self.check()
        dt = finite_number(dt, "dt", low=0.0)
        self._settle(fluid)
        return dt

    def _write(
        self,
        program: moderngl.Program,
        fields: Mapping[str, Field | None] | None,
        name: str,
        **others: moderngl.Texture,
    ) -> None:
        """Write all places anew by `program`, which reads those there are as `name`."""
        textures, targets = self._places()
        self._fill(targets[1], program, fields, {name: textures[0], **others})
        textures[:2] = reversed(textures[:2])
        targets[:2] = reversed(targets[:2])


def rays_in_cells(fluid: FlowLike, view: View) -> dict[str, Any]:
    """The uniforms of a picture's rays, and the way along them to where it begins, metres."""
    return {**ray_uniforms(view, fluid), "nearest": view.rays.near}


def _picture_depth(view: View, depth: float) -> float:
    """The depth, 0 .. 1, of what lies `depth` metres in front of the eye."""
    a, b, c, d = view.texture_scale
    return (b - d * depth) / (c * depth - a)
