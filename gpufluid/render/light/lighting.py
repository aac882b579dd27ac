"""All the light in the box of a fluid: the sun, the sky, other lights and the fire, as textures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import moderngl

from gpufluid.contract.backend import release
from gpufluid.description.view import Look
from gpufluid.gl import enums
from gpufluid.gl.calls import calls
from gpufluid.gl.device import Device
from gpufluid.gl.field import Field
from gpufluid.gl.hosts_program import HostsProgram
from gpufluid.gl.uniforms import give
from gpufluid.render.light.firelight import FireLight, SeenFire
from gpufluid.render.light.light_reach import LightReach, ReachPart
from gpufluid.render.light.light_volume import LightVolume
from gpufluid.render.light.other_lights import OtherLights
from gpufluid.render.light.shadow_map import MOST_TILES, ShadowMap
from gpufluid.render.occupancy import Occupancy
from gpufluid.render.subject import FluidLike
from gpufluid.render.volume_source import SKY, SUN, Program, bind, cells_program, matter, volume_program

AnyProgram = moderngl.Program | moderngl.ComputeShader | HostsProgram
SKY_SCALE = 0.5  # light cells per cell of the light from all round
DOWN = (0.0, -1.0, 0.0)


class Lighting:
    """How much light of which kind there is in every place.

    scale: light cells per cell of the sun's light, at most 1. attenuation: "exponential" or "harris".
    """

    def __init__(self, device: Device, fluid: FluidLike, scale: float, attenuation: str) -> None:
        self.device = device
        grid = fluid.grid.local  # where the box stands is nothing to them
        sky_scale = min(SKY_SCALE, scale) if min(grid.cells) > 1 else scale
        self.sun = LightVolume(device, grid, scale, attenuation)
        self.sky = LightVolume(device, grid, sky_scale, attenuation)
        self._reach: LightReach | None = None  # of both
        self._grid = grid
        self._others: OtherLights | None = None
        self._fire: FireLight | None = None
        # what smoke alone leaves of the light of the sun and of others, past solids
        self._past: LightVolume | None = None
        self._others_past: OtherLights | None = None
        self._walked_past = self._walked_solids = False
        self.shadows: ShadowMap | None = None
        self._most = 0  # numbers that uniforms of a dispatch may be
        if device.version >= 430:
            self._most = calls(device.ctx).integers(enums.MAX_COMPUTE_UNIFORM_COMPONENTS)[0]
        self._look, self._roomy = Look(), False
        self._stood = fluid.grid, fluid.scrolled  # where the box was when light was last walked through it
        self._occupancy: Occupancy | None = None

    def update(
        self,
        fluid: FluidLike,
        look: Look,
        occupancy: Occupancy | None = None,
        shadows: ShadowMap | None = None,
    ) -> None:
        """Walk all light through `fluid` as it is now; occupancy: where in it there is anything.

        shadows: those that solids throw, for smoke and surfaces to ask; None: solids stop the light of sun
        and lamps by their cells. Where a map is given that holds none, they stop no light of these.
        """
        self.shadows, self.sun.past_solids = shadows, shadows is not None
        self._look, smoke = look, look.smoke
        self._occupancy, self._walked_past = occupancy, False
        self._stood, self._walked_solids = (fluid.grid, fluid.scrolled), fluid.solid_field is not None
        walks = (self.sun, look.light.direction, "light"), (self.sky, DOWN, "sky")
        reaches: Sequence[ReachPart | None] = (None, None)
        if occupancy is not None:
            for volume, direction, _ in walks:
                volume.face(fluid, direction)
            self._reach = self._reach or LightReach(self.device, [self.sun, self.sky])
            with self.timed(fluid, "reach of light"):
                self._reach.find(occupancy)
            reaches = self._reach.parts
        for (volume, direction, label), reach in zip(walks, reaches, strict=True):
            with self.timed(fluid, label):
                volume.update(fluid, direction, smoke, occupancy, reach)
        self._make_room(any(fluid.scrolled))
        if look.lights:
            self._others = self._others or OtherLights(self.device, self._grid, self._roomy)
            with self.timed(fluid, "other lights"):
                self._others.update(fluid, look.lights, smoke, occupancy, past_solids=shadows is not None)
        if look.fire is not None:
            self._fire = self._fire or FireLight(self.device, self._grid, self._roomy)
            with self.timed(fluid, "fire"):
                self._fire.update(fluid, look.fire, smoke, occupancy)

    def seen_fire(self, fluid: FluidLike) -> SeenFire | None:
        """The fire of the latest `update` as rays see it, if there is one."""
        if self._look.fire is None or self._fire is None:
            return None
        return self._fire.seen(fluid.layouts["cell"], self._look.fire)

    def walk_past_solids(self, fluid: FluidLike, late: bool = False) -> None:
        """Walk the light on a host's surfaces, once after an `update`: solids shade those by their shapes.

        late: whether the smoke may have moved on since that update.
        Until then surfaces have the light that the smoke has, which is theirs where that update met no solid.
        """
        if self._walked_past or self.sun.past_solids or not self._walked_solids or fluid.solid_field is None:
            return
        if self._past is None:
            scale, attenuation = self.sun.scale, self.sun.attenuation
            self._past = LightVolume(self.device, self._grid, scale, attenuation, past_solids=True)
        self._stood = fluid.grid, fluid.scrolled
        if late and self._occupancy is not None:
            self._occupancy.update(fluid, self._look)
        with self.timed(fluid, "light past solids"):
            self._past.update(fluid, self._look.light.direction, self._look.smoke, self._occupancy)
        if self._look.lights:
            self._others_past = self._others_past or OtherLights(self.device, self._grid, self._roomy)
            with self.timed(fluid, "other lights past solids"):
                self._others_past.update(
                    fluid, self._look.lights, self._look.smoke, self._occupancy, past_solids=True
                )
        self._walked_past = True

    @property
    def on_surfaces(self) -> LightVolume:
        """The sun's light on surfaces."""
        return self._past if self._walked_past and self._past is not None else self.sun

    def _make_room(self, moved: bool) -> None:
        """Have what lies in coarse cells made anew, once, for a box that has moved on over them."""
        if not moved or self._roomy:
            return
        self._roomy = True
        release(self._others, self._others_past, self._fire)
        self._others = self._others_past = self._fire = None

    def timed(self, fluid: FluidLike, label: str) -> AbstractContextManager[None]:
        """Time what is drawn inside among the passes of `fluid`, while those are timed."""
        return (fluid.device or self.device).timed(label)

    @contextmanager
    def program(
        self,
        fluid: FluidLike,
        label: str,
        file: str,
        *fields: str,
        defines: Mapping[str, object] | None = None,
        **rules: Any,
    ) -> Iterator[moderngl.Program]:
        """A `volume_program` that lights surfaces: the light is bound while the body runs, with all `matter`.

        defines: macros beyond those of the light. rules: as for `volume_program`, but for volumes.
        """
        program = volume_program(self.device, fluid, label, file, *fields, **self._known(defines), **rules)
        with self._bound(fluid, program, self.on_surfaces, surfaces=True):
            yield program

    @contextmanager
    def cells_program(
        self,
        fluid: FluidLike,
        label: str,
        file: str,
        *fields: str,
        defines: Mapping[str, object] | None = None,
        **rules: Any,
    ) -> Iterator[Program]:
        """A `cells_program` that lights smoke, in the same way; it draws where dispatches have no room."""
        known = self._known(defines)
        if known["defines"]["LAMPS_SHADOWED"] and uniforms_of(len(self._look.lights)) > self._most:
            rules["form"] = ""
        program = cells_program(self.device, fluid, label, file, *fields, **known, **rules)
        with self._bound(fluid, program, self.sun, surfaces=False):
            yield program

    @property
    def _lit_by(self) -> dict[str, Field]:
        """The volumes of the lights of the latest look beside sun and sky, by name."""
        given: dict[str, Field] = {}
        if self._look.lights and self._others is not None:
            given["others"] = self._others.field
        if self._look.fire is not None and self._fire is not None:
            given["glow"] = self._fire.glow
        return given

    @property
    def _thrown(self) -> ShadowMap | None:
        """The shadows that are to be asked for, if there are any."""
        return self.shadows if self.shadows is not None and self.shadows.any else None

    def _known(self, beside: Mapping[str, object] | None) -> dict[str, Any]:
        """The macros of these lights and those `beside`, and the layouts of their volumes."""
        shadowed = int(self._thrown is not None)
        lamps = shadowed * int("others" in self._lit_by)
        defines: dict[str, object] = {"SHADOWED": shadowed, "LAMPS_SHADOWED": lamps, **(beside or {})}
        if "others" in self._lit_by:
            defines["OTHERS"] = len(self._look.lights)
        if "glow" in self._lit_by and self._fire is not None:
            defines |= self._fire.defines
        return {"defines": defines, "volumes": {name: field.layout for name, field in self._lit_by.items()}}

    @contextmanager
    def _bound(self, fluid: FluidLike, program: Program, sun: LightVolume, surfaces: bool) -> Iterator[None]:
        look = self._look
        for volume, name, unit in ((sun, "sun", SUN), (self.sky, "sky", SKY)):
            volume.give(program, name, unit)
        if look.lights and self._others is not None:
            self._others.place(program, fluid, look.lights)
        if look.fire is not None and self._fire is not None:
            self._fire.give(program, fluid, look.fire)
        shadows = (
            nullcontext() if self._thrown is None else self._thrown.read_by(program, fluid.grid, surfaces)
        )
        with bind(self.device, program, **matter(fluid), **self._lit_by), shadows:
            try:
                yield
            finally:
                for unit in (SUN, SKY):
                    self.device.between.clear(unit)

    def give(self, program: AnyProgram, unit: int, prefix: str) -> None:
        """Set what ``host/light.glsl`` of a host's `program` reads, and bind it to `unit` and the next two.

        The last is left alone where the program does not ask for other lights. A box that has moved on since
        has left its light in its place in the world.
        """
        give_all_light(self.device, program, unit, prefix)
        grid, scrolled = self._stood
        sun, fire = self.on_surfaces, self._fire if self._look.fire is not None else None
        sun.layers.use(unit)
        values: dict[str, Any] = {
            **sun.told(f"{prefix}_sun", unit),
            f"{prefix}_light_origin": tuple(grid.origin),
            f"{prefix}_light_cells": tuple(map(float, grid.cells)),
            f"{prefix}_light_cell_size": grid.cell_size,
        }
        if fire is not None:
            fire.glow.front.use(unit + 1)
            lag = (n % fire.size for n in scrolled)
            values |= {
                f"{prefix}_glow_extent": fire.glow.layout.texel_grid,
                f"{prefix}_glow_tiles": fire.glow.layout.columns,
                f"{prefix}_fire_blocks": (*map(float, lag), float(fire.size)),
            }
        others = self._others_past if self._walked_past else self._others
        if self._look.lights and others is not None and asks_for_lamps(program, prefix):
            others.field.front.use(unit + 2)
            values |= others.told(prefix, grid, scrolled, self._look.lights)
        give(program, {**values, f"{prefix}_sun_layers": unit})

    def release(self) -> None:
        """Release every texture."""
        release(self.sun, self.sky, self._reach, self._past, self._others, self._others_past, self._fire)
        self._reach = self._past = self._others = self._others_past = self._fire = None


# the samplers of host/light.glsl, by their texture units; who does not ask for lamps needs no third
SAMPLERS = "sun_layers", "glow", "lamps"


def give_all_light(device: Device, program: AnyProgram, unit: int, prefix: str) -> None:
    """Let ``host/light.glsl`` of a host's `program` find all light of sun and lamps, and no fire's."""
    values: dict[str, Any] = {
        f"{prefix}_sun_tiles": (0, 0, 0, 0),
        f"{prefix}_fire_blocks": (0.0, 0.0, 0.0, 0.0),
        f"{prefix}_lamps_tiles": (1, 0),
    }
    for at, name in enumerate(SAMPLERS, unit):
        if at < unit + 2 or asks_for_lamps(program, prefix):
            device.blank().use(at)
            values[f"{prefix}_{name}"] = at
    give(program, values)


def asks_for_lamps(program: AnyProgram, prefix: str) -> bool:
    """Whether a host's `program` with ``host/light.glsl`` calls what reads the light of lamps."""
    return f"{prefix}_lamps" in program


def uniforms_of(lamps: int) -> int:
    """The numbers that uniforms of shade.glsl are at most with so many `lamps` whose shadows are looked up.

    As drivers count them that keep each row of an array in four. OpenGL promises 512 of a dispatch and 1024
    of a fragment shader, which have 1024 and 4096 of them on GPUs of some makers.
    """
    return 256 + 32 * (1 + MOST_TILES * lamps)
