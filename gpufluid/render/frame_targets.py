"""What a picture of one size is drawn into: its textures and framebuffers, made and released together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import moderngl
import numpy as np

from gpufluid.common.errors import GpufluidError
from gpufluid.description.grid import LARGEST_HALF
from gpufluid.gl.device import Device, let_go
from gpufluid.gl.fences import clear, copy, draw_to
from gpufluid.render.solids.drawn_solids import Part, Size

WHOLE, CLEAR = range(2)  # copies of the picture: as it is, and before the smoke
LEFT, FIRES = range(2)  # of the light on a floor about several boxes: shares of it, and what fires add
SAMPLES = 4  # a pixel, for the outlines of solids
Made = TypeVar("Made")


class FloorLight(NamedTuple):
    """Textures of light on the floor, and what draws into them all."""

    textures: list[moderngl.Texture]
    target: moderngl.Framebuffer


class FrameTargets:
    """The textures of a picture of `size`, and what draws into them.

    color: linear radiance; depth: of the opaque scene, one a pixel; shown: the picture as a screen has it.
    scene draws into the first two, smoke into the colour alone, depth_alone into the depth, screen into what
    is shown. opaque: has several samples a pixel where the driver has them, else it is scene. samples: the
    depths of all of them, samples_alone: draws into these; None where they cannot be read. no_samples: for a
    sampler that is to read none. surfaces: what opaque draws into holds no colours but surfaces to be lit
    later, see `FoundSolids`; None: it holds colours. colors: these, of all samples; None: they cannot be
    read. painted: as scene, and writes no depths. brightest: radiance that color holds.

    Raises GpufluidError where there is no memory for them, and leaves nothing behind.
    """

    samples_alone: moderngl.Framebuffer
    no_samples: moderngl.Texture

    def __init__(self, device: Device, size: Size) -> None:
        self.device, self.size = device, size
        self._things: list[Any] = []
        self._copies: dict[int, tuple[moderngl.Texture, moderngl.Framebuffer]] = {}
        self._travel: tuple[moderngl.Texture, moderngl.Framebuffer] | None = None
        self._floor_light: dict[int, FloorLight] = {}
        try:
            self._make(min(SAMPLES, device.ctx.max_samples))
        except moderngl.Error as error:
            self.release()
            raise GpufluidError(
                f"no picture of {size[0]} x {size[1]} pixels could be made here: {error}"
            ) from None
        except BaseException:
            self.release()
            raise
        clear(self.screen, 0.0, 0.0, 0.0, 1.0)
        clear(self.smoke)

    def _make(self, samples: int) -> None:
        ctx, device, size = self.device.ctx, self.device, self.size
        # after a depth test into half floats a thread of llvmpipe (Mesa 22.3) no longer takes the least of
        # numbers for 0: steps after a picture would have other bits than those without one
        form = "f4" if device.software else "f2"

        def kept(thing: Made) -> Made:
            self._things.insert(0, thing)
            return thing

        self.color = kept(device.texture(size, 4, form, "the picture"))
        self.brightest = LARGEST_HALF if self.color.dtype == "f2" else 3e38
        self.depth = kept(ctx.depth_texture(size))
        self.shown = kept(device.texture(size, 4, "f1", "the picture"))
        self.scene = kept(ctx.framebuffer([self.color], self.depth))
        self.painted = kept(ctx.framebuffer([self.color], self.depth))
        self.painted.depth_mask = False
        self.depth_alone = kept(ctx.framebuffer((), self.depth))
        self.opaque = self.scene
        self.samples: moderngl.Texture | None = None
        self.surfaces: moderngl.Texture | None = None
        self.colors: moderngl.Texture | None = None
        self.smoke = kept(ctx.framebuffer([self.color]))
        self.screen = kept(ctx.framebuffer([self.shown]))
        if samples > 1:
            color: Any
            depth: Any
            if samples == SAMPLES <= ctx.info["GL_MAX_DEPTH_TEXTURE_SAMPLES"]:
                depth = self.samples = kept(ctx.depth_texture(size, samples=samples))
                self.no_samples = kept(ctx.depth_texture((1, 1), samples=samples))
            else:
                depth = kept(ctx.depth_renderbuffer(size, samples=samples))
            if lit_later(device) and self.samples is not None:
                color = self.surfaces = kept(ctx.texture(size, 4, samples=samples, dtype="f4"))
            elif samples == SAMPLES <= ctx.info["GL_MAX_COLOR_TEXTURE_SAMPLES"]:
                color = self.colors = kept(ctx.texture(size, 4, samples=samples, dtype=self.color.dtype))
            else:
                color = kept(ctx.renderbuffer(size, 4, samples=samples, dtype=self.color.dtype))
            self.opaque = kept(ctx.framebuffer([color], depth))
            self.samples_alone = kept(ctx.framebuffer((), depth))
        # colour, depth, and what is shown; the first two once more for each sample
        pixels, more = size[0] * size[1], samples if samples > 1 else 0
        self.color_bytes = pixels * 4 * np.dtype(self.color.dtype).itemsize
        self.bytes = (1 + more) * (self.color_bytes + 4 * pixels) + 4 * pixels

    def another(self, number: int) -> tuple[moderngl.Texture, moderngl.Framebuffer]:
        """The picture of that `number` beside the first, for passes that read what they change."""
        if number not in self._copies:
            texture = self.device.texture(self.size, 4, self.color.dtype, "the picture")
            self.bytes += self.color_bytes
            self._copies[number] = texture, self.device.ctx.framebuffer([texture])
            self._things += self._copies[number]
        return self._copies[number]

    @property
    def travel(self) -> tuple[moderngl.Texture, moderngl.Framebuffer]:
        """Four single floats a pixel, and what draws into them by depths of its own."""
        if self._travel is None:
            texture = self.device.texture(self.size, 4, "f4", "the travel of solids")
            depths = self.device.ctx.depth_renderbuffer(self.size)
            self._travel = texture, self.device.ctx.framebuffer([texture], depths)
            self._things += texture, depths
            self._things.insert(0, self._travel[1])
            self.bytes += 20 * self.size[0] * self.size[1]
        return self._travel

    def floor_light(self, number: int) -> FloorLight:
        """The light on a floor about several boxes, see `gather`; its target has the depths, to be tested.

        number: LEFT, the shares of it that are left, in two textures; FIRES, what fires add, in one, and
            later to solids of other boxes.
        """
        if number not in self._floor_light:
            textures = [
                self.device.texture(self.size, 4, self.color.dtype, "the light on the floor")
                for _ in range(2 - number)
            ]
            self.bytes += len(textures) * self.color_bytes
            made = FloorLight(textures, self.device.ctx.framebuffer(textures, self.depth))
            made.target.depth_mask = False
            self._floor_light[number] = made
            self._things[:0] = made.target, *textures
        return self._floor_light[number]

    def copy(self, number: int, part: Part) -> moderngl.Texture:
        """Keep `part` of the picture as it is now, in the one of that `number`."""
        texture, target = self.another(number)
        with only(target, part):
            copy(self.smoke, target)
        return texture

    def release(self) -> None:
        """Release all of them; idempotent."""
        let_go(*self._things)
        self._things = []


def lit_later(device: Device) -> bool:
    """Whether pictures find the surfaces of solids first and light them after.

    Software shades small triangles at up to ten times their pixels. A GPU does not, and waits for memory.
    """
    return device.software and bool(device.ctx.info["GL_MAX_COLOR_TEXTURE_SAMPLES"] >= SAMPLES)


@contextmanager
def only(target: moderngl.Framebuffer, part: Part) -> Iterator[None]:
    """Draw into `part` of `target` alone while the body runs."""
    target.scissor = part
    draw_to(target)
    try:
        yield
    finally:
        target.scissor = None  # type: ignore[assignment]
        target.use()
