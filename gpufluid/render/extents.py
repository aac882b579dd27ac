"""Where in a picture each slab of the shaded volume has anything to show, found and used on the GPU alone.

Each block of cells that holds something (`gpufluid.render.occupancy`) writes what it covers of the picture
into a small texture, by slab and by band of the picture, and blending keeps the outermost ends. A slab is
drawn between these ends. Its rays are then interpolated between other corners, which rounds them
differently: the picture is not the same to the bit, but far closer than a screen shows. Rays worked out for
each pixel would be, but cost a software renderer a quarter more in a full box.
"""

from __future__ import annotations

import moderngl
import numpy as np

from gpufluid.contract.backend import release
from gpufluid.gl.device import Device
from gpufluid.gl.drawing import Canvas
from gpufluid.gl.fences import clear, draw_to
from gpufluid.gl.uniforms import give
from gpufluid.render.camera import View
from gpufluid.render.occupancy import Occupancy
from gpufluid.render.painter import LIMIT, Sight, ray_uniforms
from gpufluid.render.slabs import Cuts
from gpufluid.render.volume_source import EXTENTS, WHOLES

BAND = 32  # height of a band, pixels


class Extents:
    """The ends of what the slabs of a picture show, by slab and band."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._ends: tuple[Canvas, Canvas] | None = None  # by slab and band, and of all bands together

    def update(
        self,
        sight: Sight,
        occupancy: Occupancy,
        along: tuple[float, ...],
        cuts: Cuts,
        spread: float = 0.0,
    ) -> None:
        """Find them. along: of a place in cells, what slabs are cut across: a plane's four numbers.

        cuts: where the first slab begins there, how thick each is, how many there are. spread: share of a
        slab by which each may be longer.
        """
        device, (_, height) = self.device, sight.size
        program = occupancy.scattering(device, sight.fluid.grid.local, "extents")
        bands = -(-height // BAND)
        (by_band, wholes), view = self._ends_for(bands), sight.view
        values = {
            "to_picture": to_picture(view, ray_uniforms(view, sight.fluid)),
            "perspective": view.is_perspective,
            "along": along,
            "cuts": (*cuts[:2], float(cuts[2])),
            "bands": (bands, 2.0 * BAND / height),
            "slack": tuple(2.0 / n for n in sight.size),
            "nearest": max(view.rays.near, 1e-6),
            "margin": occupancy.margin,
            "spread": spread,
        }
        give(program, values)
        # one column a slab: the textures hold more
        by_band.target.viewport = 0, 0, cuts[2], bands
        clear(by_band.target, -2.0, -2.0)
        with occupancy.scatter(program, by_band.target):
            device.fullscreen(program).render(moderngl.TRIANGLES, vertices=6 * occupancy.blocks)
        program = device.program_of("extents whole", "render/extents_whole.glsl")
        give(program, {"extents": EXTENTS, "band_count": bands})
        by_band.texture.use(EXTENTS)
        wholes.target.viewport = 0, 0, cuts[2], 1
        draw_to(wholes.target)
        device.cover(program)

    def give(self, program: moderngl.Program, sight: Sight) -> int:
        """Set what ``slab_bands_vertex.glsl`` of `program` reads; return the vertices of a slab."""
        assert self._ends is not None
        height = sight.size[1]
        give(program, {"extents": EXTENTS, "wholes": WHOLES, "band": 2.0 * BAND / height})
        for ends, unit in zip(self._ends, (EXTENTS, WHOLES), strict=True):
            ends.texture.use(unit)
        return 6 * -(-height // BAND)

    def _ends_for(self, bands: int) -> tuple[Canvas, Canvas]:
        """The textures of the ends, for so many bands at least."""
        if self._ends is None or self._ends[0].texture.height < bands:
            self.release()
            by_band, wholes = (
                Canvas(self.device, (LIMIT + 1, n), 4, "f4", "the ends of slabs") for n in (bands, 1)
            )
            self._ends = by_band, wholes
        return self._ends

    def release(self) -> None:
        """Release what is kept between frames."""
        release(*(self._ends or ()))
        self._ends = None


def to_picture(view: View, rays: dict[str, list[tuple[float, ...]]]) -> np.ndarray:
    """The matrix from places in cells to x, y and depth; in perspective x and y are times the depth."""
    origin, direction = (np.array(rays[name]) for name in ("ray_origin", "ray_direction"))
    across = direction if view.is_perspective else origin
    matrix = np.eye(4)
    matrix[:3, :3] = np.linalg.inv(np.stack([across[1], across[2], direction[0]], axis=1))
    matrix[:3, 3] = -matrix[:3, :3] @ origin[0]
    return matrix
