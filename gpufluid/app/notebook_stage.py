"""What a notebook shows: a scene, what draws it and its picture."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpufluid.app.hands import Brush
from gpufluid.app.pick import Ray, ray_through
from gpufluid.common.errors import GpufluidError
from gpufluid.common.vectors import Size
from gpufluid.engine.fluid import Fluid
from gpufluid.scene.scene import Scene

if TYPE_CHECKING:
    from gpufluid.render.frame import FrameRenderer


def check_alive(fluid: Fluid) -> None:
    """Raise GpufluidError for a fluid that was released."""
    if fluid.released:
        raise GpufluidError("this Fluid was released")


class NotebookStage:
    """A scene, what draws it, and where it is pointed at.

    renderer: its owner releases it; None: one of its own. size: (width, height), pixels; None: as the
    renderer's. pointer: where it was seen last, (x, y), pixels, y downward. Raises as `FrameRenderer` does.
    """

    def __init__(
        self,
        scene: Scene,
        renderer: FrameRenderer | None,
        size: Size | None,
        before: Callable[[Fluid], None] | None,
    ) -> None:
        from gpufluid.render.frame import FrameRenderer

        self.scene, self.before = scene, before
        self.pointer = (0.0, 0.0)
        self._owned = renderer is None
        ctx = self._use_context()
        self.renderer = renderer or FrameRenderer.of(scene.picture, ctx, size)
        if size is not None:
            self.renderer.resize(size)
        self._released = False

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) of the picture, pixels."""
        return self.renderer.size

    @property
    def height(self) -> int:
        """Of the picture, pixels."""
        return self.size[1]

    @property
    def opened(self) -> float:
        """The picture shows what the camera sees."""
        return 1.0

    def ray(self, x: float, y: float) -> Ray:
        """The ray through a point of the picture, pixels, y downward."""
        width, height = self.size
        return ray_through(self.scene.camera, width / height, 2.0 * x / width - 1.0, 1.0 - 2.0 * y / height)

    def advance(self, brush: Brush | None = None) -> None:
        """Step the scene by a frame, and let `brush` leave what it did; nothing once the scene is over."""
        if self.scene.over:
            return
        if brush is not None:
            brush.stroke()
        if self.before is not None:
            self.before(self.scene.fluid)
        self.scene.advance()

    def draw(self) -> NDArray[np.uint8]:
        """The picture of the scene as it is, uint8 [height, width, 3], top row first."""
        self._use_context()
        self.renderer.draw(self.scene)
        return self.renderer.read()

    def resize(self, width: float, height: float) -> None:
        """Draw pictures of another size from now on; each side is rounded, and at least 1."""
        self._use_context()
        self.renderer.resize((max(round(width), 1), max(round(height), 1)))

    def release(self) -> None:
        """Release the renderer, where it is its own and the fluid's context is still there; idempotent.

        Who holds a closed frame, as a notebook's `Out` does, holds neither scene nor renderer by it.
        """
        if self._released:
            return
        self._released = True
        with contextlib.suppress(GpufluidError):  # the fluid went before, and its context with it
            self._use_context()
            if self._owned:
                self.renderer.release()
        del self.scene, self.renderer, self.before

    def _use_context(self) -> Any:
        """Make the fluid's context current, whichever was: between cells other fluids work in theirs."""
        fluid = self.scene.fluid
        check_alive(fluid)
        assert fluid.ctx is not None  # checked
        fluid.ctx.__enter__()
        return fluid.ctx
