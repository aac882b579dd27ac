"""A volume on the GPU: front and back flat 3D textures, and the one rule of ping-pong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from gpufluid.common.errors import GpufluidError
from gpufluid.contract.backend import release, released
from gpufluid.contract.layout import FlatLayout
from gpufluid.description.grid import LARGEST_HALF
from gpufluid.gl.device import Device, let_go
from gpufluid.gl.late import LateRead

if TYPE_CHECKING:
    from gpufluid.gl.strips import Mark, Strips

FloatArray = NDArray[np.float32]


class Field:
    """A volume of `layout`, `components` channels a texel, in half ("f2") or single ("f4") precision.

    A pass reads `front`, writes `back`, then swaps what it wrote: that is all the ping-pong there is. Where
    it has changed but a few boxes, these are brought over to the front instead: `gpufluid.gl.regions`.
    A field with one buffer is scratch: a pass may not read and write it at once.
    """

    def __init__(
        self,
        device: Device,
        name: str,
        layout: FlatLayout,
        components: int = 4,
        dtype: str = "f4",
        buffers: int = 2,
    ) -> None:
        self.device, self.name, self.layout = device, name, layout
        self.components, self.dtype = components, device.kept_as(components, dtype, f"the {name} field")
        self.version = 0  # changes with the values in front
        self.where: Strips | None = None  # outside of which what is written now stays at rest
        self._buffers = buffers
        self._held: moderngl.Texture | None = None  # the front, while another field shows it
        self._textures: list[moderngl.Texture] = []
        self._marks: list[Mark | None] = [None] * buffers  # the stage each texture was last written in
        self._targets: list[moderngl.Framebuffer] = []
        device.fields.add(self)
        if device.made is not None:  # before its textures: one that fails in the midst of them counts as well
            device.made.append(self)
        for _ in range(buffers):
            texture = device.texture(layout.texture_size, components, self.dtype, f"the {name} field")
            self._textures.append(texture)
            self._targets.append(device.ctx.framebuffer([texture]))
            device.clear(texture, self._targets[-1], (0.0,) * 4)

    @property
    def front(self) -> moderngl.Texture:
        """What a pass reads."""
        return self._textures[0]

    @property
    def back(self) -> moderngl.Texture:
        """What a pass writes; the same as `front` in a scratch field."""
        return self._textures[-1]

    @property
    def fronts(self) -> Sequence[moderngl.Texture]:
        """The textures of the front: one, but see `PartedField`."""
        return (self._textures[0],)

    @property
    def backs(self) -> Sequence[moderngl.Texture]:
        """Those of the back."""
        return (self._textures[-1],)

    @property
    def parts(self) -> Sequence[Field]:
        """Itself, but see `PartedField`."""
        return (self,)

    @property
    def back_target(self) -> moderngl.Framebuffer:
        """The framebuffer over `back`."""
        return self._targets[-1]

    @property
    def front_target(self) -> moderngl.Framebuffer:
        """The framebuffer over `front`, for `amend`."""
        return self._targets[0]

    @property
    def shown(self) -> bool:
        """Whether another field shows the front, see `held`."""
        return self._held is not None

    @property
    def scratch(self) -> bool:
        """True with one buffer only."""
        return self._buffers == 1

    @property
    def mark(self) -> Mark | None:
        """The stage of its `where` in which the front was written; None where that is not known."""
        return self._marks[0]

    @property
    def back_mark(self) -> Mark | None:
        """The same of the back."""
        return self._marks[-1]

    @property
    def released(self) -> bool:
        """True after `release`."""
        return not self._textures

    def swap(self) -> None:
        """Make what was written, in the latest stage, the front."""
        self.version += 1
        self._marks[-1] = None if self.where is None else self.where.mark
        self.turn()
        if self._held is not None:
            self._part()

    def amend(self) -> None:
        """A few values of the front, which nobody else shows, have been set, in the latest stage."""
        self.version += 1
        self._marks[0] = None if self.where is None else self.where.mark

    def turn(self) -> None:
        """Let front and back change places."""
        self._textures.reverse()
        self._targets.reverse()
        self._marks.reverse()

    def held(self, still: Field | None = None) -> Field:
        """Return a field that shows this front as it is now; nothing is copied.

        The texture stays here as well until the next write, and is that of `still` alone from then on. In
        return the texture that `still` had, of an earlier call or a new one, is one of this field's: the next
        pass writes to it.
        """
        if still is None:
            still = Field(self.device, self.name, self.layout, self.components, self.dtype, buffers=1)
        if len(self._textures) == self._buffers:
            self._textures += still._textures
            self._targets += still._targets
            self._marks.append(None)  # of another time
        still._textures, still._targets = self._textures[:1], self._targets[:1]
        self._held = self.front
        still.version += 1  # its texture may have held something else before
        return still

    def take_back(self, still: Field) -> None:
        """Make what `still` shows the front again; nothing is copied."""
        if self._held is None:  # it has been written since
            textures, targets = (self._textures, still._textures), (self._targets, still._targets)
            textures[0][0], textures[1][0] = textures[1][0], textures[0][0]
            targets[0][0], targets[1][0] = targets[1][0], targets[0][0]
            self._marks[0] = None
            self.version += 1

    def _part(self) -> None:
        """Leave the texture that another field shows to that one: something is written here."""
        where = next(n for n, texture in enumerate(self._textures) if texture is self._held)
        del self._textures[where], self._targets[where], self._marks[where]
        self._held = None

    def fill(self, values: Sequence[float]) -> None:
        """Set every value of the front: one number for all channels, or one for each."""
        if self.dtype == "f2":
            values = np.clip(values, -LARGEST_HALF, LARGEST_HALF).tolist()
        red, green, blue, alpha = (list(values) * 4 if len(values) == 1 else [*values, 0.0, 0.0, 0.0])[:4]
        self.version += 1
        if self._held is not None:
            self._part()
        self._marks[0] = None
        self.device.clear(self.front, self._targets[0], (red, green, blue, alpha))

    def read(self, textures: Sequence[moderngl.Texture] = ()) -> FloatArray:
        """Return the front as float32 [z, y, x, c], or other textures like it; a packed field has c = 1."""
        if textures:
            parts = [self._unpacked(texture.read(alignment=1)) for texture in textures]
            return np.concatenate(parts, -1).astype(np.float32, copy=False)
        if self.device.pace.pacer is not None:
            return self.dump().astype(np.float32)
        return self.take()()

    def take(self, dtype: type[Any] = np.float32) -> Callable[[], NDArray[Any]]:
        """Copy the front's texture as it is now. What is returned unpacks it as `read`, in any thread."""
        width, height = self.layout.texture_size
        raw = np.empty(width * height * self.components, self.dtype)
        self.front.read_into(raw, alignment=1)
        return lambda: np.require(self._unpacked(raw).astype(dtype, copy=False), requirements="W")

    def later(self) -> LateRead:
        """Ask for a copy of the front's texture as it is now, without waiting."""
        late = LateRead(self.front)
        self.device.before_stores()  # a pass may write over it while it is copied
        return late

    def dump(self) -> NDArray[np.floating]:
        """Return the front as `read`, in the precision of the texture."""
        pacer = self.device.pace.pacer
        if pacer is None:
            return self._unpacked(self.front.read(alignment=1))
        with released(self.later()) as late:
            pacer.wait(late)
            return self.layout.unflatten(late.read())

    def _unpacked(self, raw: bytes | NDArray[np.floating]) -> NDArray[np.floating]:
        width, height = self.layout.texture_size
        image = np.frombuffer(raw, self.dtype).reshape(height, width, self.components)
        return self.layout.unflatten(image)

    def write(self, volume: NDArray[np.floating]) -> None:
        """Set the front from [z, y, x, c]; raises GpufluidError for another shape."""
        self._set(self._rounded(volume))

    def _rounded(self, volume: NDArray[np.floating]) -> NDArray[np.floating]:
        values = np.asarray(volume, np.float32)
        if self.dtype == "f2":
            values = np.clip(values, -LARGEST_HALF, LARGEST_HALF)
        return values.astype(self.dtype)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Of what it is written with: [z, y, x, c]."""
        nx, ny, nz = self.layout.size
        return nz, ny, nx, 1 if self.layout.packing > 1 else self.components

    def restore(self, volume: NDArray[np.floating]) -> None:
        """Set the front from what `dump` returned; as `write` where that came in another precision."""
        if volume.dtype == self.dtype:
            self._set(volume)
        else:
            self.write(volume)

    def _set(self, volume: NDArray[np.floating]) -> None:
        if volume.shape != self.shape:
            raise GpufluidError(f"the {self.name} field takes {self.shape}, got {volume.shape}")
        self.version += 1
        if self._held is not None:
            self._part()
        self._marks[0] = None
        self.front.write(self.layout.flatten(volume).tobytes(), alignment=1)

    @property
    def nbytes(self) -> int:
        """Bytes of GPU memory held."""
        width, height = self.layout.texture_size
        own = len(self._textures) - (self._held is not None)  # what is shown counts where it is shown
        return width * height * self.components * int(self.dtype[1]) * own

    def release(self) -> None:
        """Release the textures; idempotent."""
        let_go(*self._targets, *self._textures)
        self._targets.clear()
        self._textures.clear()
        self._held = None


class PartedField(Field):
    """A volume in several textures: of each texel `parts` have a share, which one pass reads and writes.

    Its values are [z, y, x, c], the channels of all parts side by side. It is not shown to others while it is
    written, nor held.
    """

    _others: Sequence[Field] = ()  # all but the first part; none while that is made
    _across: Sequence[moderngl.Framebuffer] = ()

    def __init__(
        self,
        device: Device,
        name: str,
        layout: FlatLayout,
        components: int,
        dtype: str,
        buffers: int,
        parts: int,
    ) -> None:
        super().__init__(device, name, layout, components, dtype, buffers)
        self._others = [Field(device, name, layout, components, dtype, buffers) for _ in range(parts - 1)]
        self._sides = [[part._textures[n] for part in (self, *self._others)] for n in range(buffers)]
        self._across = tuple(device.ctx.framebuffer(textures) for textures in self._sides)

    @property
    def fronts(self) -> Sequence[moderngl.Texture]:
        """The textures of the front."""
        return self._sides[0]

    @property
    def backs(self) -> Sequence[moderngl.Texture]:
        """The textures of the back."""
        return self._sides[-1]

    @property
    def back_target(self) -> moderngl.Framebuffer:
        """The framebuffer over all of the back."""
        return self._across[-1]

    @property
    def parts(self) -> Sequence[Field]:
        """A field for each part, to read from: a kernel of one texture reads the first of this one."""
        return (self, *self._others)

    def turn(self) -> None:
        """Let front and back change places."""
        super().turn()
        self._sides.reverse()
        self._across = self._across[::-1]

    def fill(self, values: Sequence[float]) -> None:
        """Set every value of the front."""
        super().fill(values)
        for part in self._others:
            part.fill(values)

    def read(self, textures: Sequence[moderngl.Texture] = ()) -> FloatArray:
        """Return the front as float32 [z, y, x, c], or other textures like it."""
        return super().read(textures or self.fronts)

    def write(self, volume: NDArray[np.floating]) -> None:
        """Set the front from [z, y, x, c]."""
        first, *others = np.split(self._rounded(volume), len(self.fronts), -1)
        self._set(first)
        for texture, values in zip(self.fronts[1:], others, strict=True):
            texture.write(self.layout.flatten(values).tobytes(), alignment=1)

    def release(self) -> None:
        """Release the textures; idempotent."""
        let_go(*self._across)
        self._across = ()
        release(*self._others)
        super().release()
