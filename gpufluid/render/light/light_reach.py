"""Where on its way light may meet anything, by group of columns: found and used on the GPU alone.

Each block of cells with anything in it that stops light is drawn over the groups of columns that may cross
it, for several lights in one pass, and says between which layers they do. Blending keeps the first and the
last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import moderngl
import numpy as np

from gpufluid.contract.backend import release
from gpufluid.description.grid import Grid
from gpufluid.gl.device import GROUP, Device, let_go
from gpufluid.gl.drawing import Canvas
from gpufluid.gl.fences import clear, draw_to
from gpufluid.gl.uniforms import give, give_once
from gpufluid.render.light.light_frame import BEYOND, LANES, ONE, LightFrame
from gpufluid.render.occupancy import NOWHERE, Occupancy
from gpufluid.render.volume_source import PICTURE, SKY

REACH, BEFORE = PICTURE, SKY  # texture units: where light is walked nobody reads those
COLUMNS = 8, 4  # of a group
BAND = 16  # rows of a tile that are drawn at once
AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
GROUPED = {"GROUP_SIZE": f"ivec2{COLUMNS}", "RECT_ROWS": BAND, "GROUP": GROUP}  # macros


class Walked(Protocol):
    """A light that is walked. frame: of its columns as they lie now. scale: light cells per cell."""

    grid: Grid
    scale: float
    frame: LightFrame


class LightReach:
    """The layers in which the groups of columns of a few lights may meet anything; a part for each light.

    groups, before: the latest and those before, a texel a group, the parts above each other.
    """

    def __init__(self, device: Device, lights: Sequence[Walked]) -> None:
        self.device, self.parts, row = device, list[ReachPart](), 0
        for light in lights:
            self.parts.append(ReachPart(self, light, row))
            row += self.parts[-1].largest[1]
        size = max(part.largest[0] for part in self.parts), row
        self.groups, self.before = (Canvas(device, size, 4, "f4", "the reach of light") for _ in range(2))
        self._placed: dict[str, bytes] = {}

    def find(self, occupancy: Occupancy) -> None:
        """Find it for the lights as they come now, which are then to be walked."""
        self.groups, self.before = self.before, self.groups
        turned = [part.begin() for part in self.parts]
        if any(turned):
            given = [part.placed for part in self.parts]
            self._placed = {name: b"".join(each[name] for each in given) for name in given[0]}
            self._placed["target_size"] = np.array(self.groups.target.size, np.float32).tobytes()
        count = len(self.parts)
        macros = {"LIGHTS": count, "GROUP_SIZE": GROUPED["GROUP_SIZE"], "BEYOND": BEYOND}
        program = occupancy.scattering(self.device, self.parts[0].grid, "light_reach", macros)
        give_once(self.device, program, "lights", self._placed)
        clear(self.groups.target, *(NOWHERE,) * 4)
        with occupancy.scatter(program, self.groups.target):
            vertices = 3 * occupancy.blocks * count
            self.device.fullscreen(program).render(moderngl.TRIANGLES, vertices=vertices)

    def forget_before(self, part: ReachPart) -> None:
        """Let what was `before` be nowhere."""
        clear(self.before.target, *(NOWHERE,) * 4, viewport=(0, part.row, *part.count))

    def use(self) -> None:
        """Bind both for a walk."""
        self.groups.texture.use(REACH)
        self.before.texture.use(BEFORE)

    def release(self) -> None:
        """Release the textures; idempotent."""
        release(self.groups, self.before, *self.parts)


class ReachPart:
    """The groups of columns of one light. row: in the textures, of the first. count: groups across and up.

    largest: that count, whatever the direction. walked: whether the light was walked since the latest find.
    follows: whether it was between the two latest, along the same frame.
    """

    def __init__(self, whole: LightReach, light: Walked, row: int) -> None:
        self.whole, self.device, self.row, self._light = whole, whole.device, row, light
        self.grid = light.grid
        frames = [LightFrame(light.grid, axis, light.scale) for axis in AXES]
        # a column crosses no more columns than layers
        wide, high = (max(frame.largest_tile[n] + frame.layers + 1 for frame in frames) for n in (0, 1))
        self._tiles = max(frame.tiles for frame in frames)
        self.largest = -(-wide // COLUMNS[0]), -(-high // COLUMNS[1])
        self._bands = -(-max(frame.largest_tile[1] for frame in frames) // BAND)
        self._groups: _Groups | None = None
        self._rects: Canvas | None = None
        self.walked = self.follows = False
        self._frame: LightFrame | None = None
        self.count = 0, 0
        self.placed: dict[str, bytes] = {}

    def begin(self) -> bool:
        """Take over how the light comes now; return whether it comes another way than before."""
        frame = self._light.frame
        self.follows, self.walked = self.walked and frame is self._frame, False
        if frame is self._frame:
            return False
        self._frame = frame
        width, height = frame.columns
        self.count = -(-width // COLUMNS[0]), -(-height // COLUMNS[1])
        self.placed = packed(
            whole={"light_axes": (*frame.across, frame.axis)},
            real={
                "light_matrix": frame.matrix.T,
                "light_first": np.array(frame.first) - np.array(frame.start) / ONE,
                "light_slope": frame.slope,
                "light_scale": frame.scale,
                "group_count": self.count,
                "group_row": self.row,
            },
        )
        return True

    @property
    def rects(self) -> moderngl.Texture:
        """The columns that may meet anything, by band of rows and tile, and those that did so before."""
        assert self._rects is not None
        return self._rects.texture

    def find_groups(self) -> _Groups:
        """The workgroups of a dispatch that have anything to write; after `LightReach.use`."""
        device = self.device
        groups = self._groups = self._groups or _Groups(device)
        program = device.program_of("light groups", "render/light_groups.glsl", macros=GROUPED)
        values = {"light_reach": REACH, "light_before": BEFORE}
        give(program, {**values, "first_group": (0, self.row), "group_count": self.count})
        draw_to(groups.back_target)
        device.ctx.enable_only(moderngl.NOTHING)
        device.cover(program)
        groups.tell()
        return groups

    def find_rects(self, tiles: tuple[int, int, int, int], placed: Mapping[str, bytes]) -> int:
        """Find `rects`; return how many bands there are. placed: the uniforms of the light's columns."""
        device = self.device
        if self._rects is None:
            size = self._bands, 2 * self._tiles
            self._rects = Canvas(device, size, 4, "f4", "the reach of light")
        bands = -(-tiles[1] // BAND)
        program = device.program_of("light rects", "render/light_rects.glsl", macros=GROUPED)
        give(program, {**placed, "light_row": self.row, "group_count": self.count})
        self._rects.target.viewport = 0, 0, bands, 2 * (-(-tiles[3] // LANES))
        draw_to(self._rects.target)
        device.ctx.enable_only(moderngl.NOTHING)
        device.cover(program)
        return bands

    def release(self) -> None:
        """Release what `find_groups` and `find_rects` made; idempotent."""
        release(self._groups, self._rects)


class _Groups:
    """How many workgroups a dispatch has, which the GPU alone knows."""

    def __init__(self, device: Device) -> None:
        self.texture = device.ctx.texture((1, 1), 4, dtype="u4")
        self.back_target = device.ctx.framebuffer([self.texture])
        self.buffer = device.ctx.buffer(reserve=16)

    def tell(self) -> None:
        """Copy what was drawn to where a dispatch takes it from."""
        self.texture.read_into(self.buffer)

    def release(self) -> None:
        """Release all of it; idempotent."""
        let_go(self.back_target, self.texture, self.buffer)


def packed(whole: Mapping[str, Any], real: Mapping[str, Any]) -> dict[str, bytes]:
    """The bytes of uniforms of whole and of real numbers, by name; matrices column by column."""
    numbers = {name: np.array(value, np.int32) for name, value in whole.items()}
    numbers |= {name: np.array(value, np.float32) for name, value in real.items()}
    return {name: values.tobytes() for name, values in numbers.items()}
