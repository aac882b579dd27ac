"""The opaque scene of a picture: backdrop, floor and solids, lit through the boxes of smoke."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from enum import Enum
from functools import partial
from typing import Any, NamedTuple

import moderngl
import numpy as np

from gpufluid.common.vectors import Vector
from gpufluid.description.grid import Grid
from gpufluid.description.view import Background, Plate
from gpufluid.gl.drawing import blend
from gpufluid.gl.fences import clear, copy
from gpufluid.gl.uniforms import give
from gpufluid.render.camera import View
from gpufluid.render.floor import (
    FLOOR,
    around,
    at_floor,
    common,
    dimmed,
    floor_part,
    sees_ahead,
    union,
    write_depths,
)
from gpufluid.render.floor_light import FLOOR_FIRE, gather, gathered_for
from gpufluid.render.frame_targets import FrameTargets, only
from gpufluid.render.light.shadow_map import ShadowMap
from gpufluid.render.painter import ray_uniforms
from gpufluid.render.solids.drawn_solids import DrawnSolids, Part
from gpufluid.render.solids.found_solids import AddedFire, FoundSolids, Solids
from gpufluid.render.subject import FluidLike, SceneLike
from gpufluid.render.volume import VolumeRenderer
from gpufluid.render.volume_source import DEPTH, SURFACES

Boxes = Sequence[tuple[FluidLike, VolumeRenderer]]  # the fluids of a scene, and what draws the smoke of each
Drawn = tuple[moderngl.Framebuffer, Part]  # a part of the picture, and into what it is drawn
WHERE_FIRE = "render/where_fire_vertex.glsl"  # covers what is drawn to where anything burns
BACKDROPS = {"studio": 1, "sky": 2}  # as in studio.glsl; 0 is one colour


class Ground(Enum):
    """What a part of the picture may show of the floor."""

    NONE = 0
    CLEAR = 1  # with all the light of sun and sky
    DIM = 2


class Frame(NamedTuple):
    """A picture that is drawn: of what, from where, into what, and what its `FrameRenderer` says of it."""

    scene: SceneLike
    view: View
    targets: FrameTargets
    paint: Vector
    background: Background
    floor_color: Vector | None
    exposure: float

    @property
    def plain(self) -> tuple[float, float, float, float]:
        """What stands behind everything where it is not the studio, premultiplied."""
        if isinstance(self.background, str | Plate):
            return 0.0, 0.0, 0.0, 0.0
        return *self.background, 1.0


class OpaqueScene:
    """Draws what is opaque in a picture. shadows: those of `solids`."""

    def __init__(self, solids: DrawnSolids, shadows: ShadowMap) -> None:
        self.device, self._solids, self._shadows = shadows.device, solids, shadows
        self._found = FoundSolids(self.device, solids)
        self._plate: tuple[Plate, moderngl.Texture] | None = None  # the one drawn last

    def draw(self, frame: Frame, boxes: Boxes, pause: Callable[[], None]) -> Part:
        """Draw backdrop, floor and solids into the picture and its depth; return where solids may be seen.

        pause: called where a driver may wait for all that was drawn before, in one call that nothing
            interrupts.
        """
        # samples are for the edges of solids: where none can be seen, a pixel has one
        shown = [(fluid, list(self._solids.placed(fluid))) for fluid, _ in boxes]
        seen = self._solids.seen(
            [one for _, placed in shown for one in placed], frame.view, frame.targets.size
        )
        draw = self._draw_at_once if frame.targets.surfaces is None else self._draw_found
        draw(frame, boxes, shown, seen, pause)
        self.device.ctx.enable_only(moderngl.NOTHING)
        return seen

    def _draw_at_once(
        self, frame: Frame, boxes: Boxes, shown: Sequence[Solids], seen: Part, pause: Callable[[], None]
    ) -> None:
        """Draw everything, solids lit as they are drawn."""
        scene, view, targets, ctx = frame.scene, frame.view, frame.targets, self.device.ctx
        beside = around(seen, (0, 0, *targets.size))
        self._draw_studios(
            frame, boxes, [(targets.opaque, seen), *((targets.scene, part) for part in beside)]
        )
        if not all(seen[2:]):
            return
        samples, grids = targets.opaque is not targets.scene, _grids(boxes)
        if samples and scene.floor is not None:
            write_depths(self.device, targets, targets.samples_alone, scene.floor, grids, view, seen)
        ctx.enable_only(moderngl.DEPTH_TEST)
        ctx.depth_func = "<"
        file, corners = "render/mesh_fragment.glsl", "render/mesh_vertex.glsl"
        with only(targets.opaque, seen):
            for box, (fluid, placed) in zip(boxes, shown, strict=True):
                with self._lit(
                    scene, *box, "solids", file, shadowed=True, vertex_file=corners, handed=False
                ) as program:
                    self._solids.draw(placed, program, fluid, view, frame.paint, targets.size)
            # once more, where each is seen, for the fires of other boxes
            blend(ctx, moderngl.ONE, moderngl.ONE)
            ctx.depth_func = "=="
            switches = moderngl.DEPTH_TEST | moderngl.BLEND
            for number, lit in self._fires_beside(scene, boxes, shown, file, corners):
                with lit() as program:
                    fluid, placed = shown[number]
                    self._solids.draw(
                        placed, program, fluid, view, frame.paint, targets.size, switches=switches
                    )
        ctx.enable_only(moderngl.NOTHING)
        if samples:
            pause()
            with only(targets.scene, seen):
                copy(targets.opaque, targets.scene)
            if targets.colors is not None:
                self._resolve(targets, targets.colors, seen, frame.exposure)
            if targets.samples is not None and scene.floor is not None:
                write_depths(
                    self.device, targets, targets.depth_alone, scene.floor, grids, view, seen, middles=True
                )

    def _resolve(self, targets: FrameTargets, colors: moderngl.Texture, part: Part, exposure: float) -> None:
        """Have the pixels of `part` show the mean of their samples, which are those of `colors`."""
        program = self.device.program_of("resolve", "render/resolve.glsl")
        give(program, {"samples": SURFACES, "exposure": exposure})
        colors.use(SURFACES)
        with only(targets.smoke, part):
            self.device.cover(program)
        self.device.blank().use(SURFACES)

    def _draw_found(
        self, frame: Frame, boxes: Boxes, shown: Sequence[Solids], seen: Part, pause: Callable[[], None]
    ) -> None:
        """Draw everything, solids first, and light them after: what they hide of the studio is spared."""
        scene, view, targets = frame.scene, frame.view, frame.targets
        some, whole, floor = all(seen[2:]), (0, 0, *targets.size), scene.floor

        def write_floor(target: moderngl.Framebuffer, part: Part, middles: bool = False) -> None:
            if floor is not None:
                write_depths(self.device, targets, target, floor, _grids(boxes), view, part, middles)

        apart = floor is None or sees_ahead(view, floor)  # its depths are those of its plane
        self._found.programs()
        if some:
            clear(targets.opaque, viewport=seen)
        if apart:
            clear(targets.depth_alone)
        else:
            self._draw_studios(frame, boxes, [(targets.scene, whole), (targets.samples_alone, seen)])
        if some:
            write_floor(targets.samples_alone, seen)
            self._found.find(targets, shown, view, seen, frame.paint)
            self._found.mark(targets, seen)
        if apart:
            self._draw_studios(frame, boxes, [(targets.painted, whole)], depthless=True)
        if some:
            pause()

            def lit(number: int, added: bool) -> AbstractContextManager[moderngl.Program]:
                file = "render/found_lit.glsl"
                return self._lit(scene, *boxes[number], "solids", file, shadowed=True, added=added)

            fires = self._fires_beside(scene, boxes, shown, "render/found_lit.glsl")
            self._found.light(targets, shown, view, seen, frame.exposure, lit, fires)
        if apart:
            if some:
                clear(targets.depth_alone)
            write_floor(targets.depth_alone, union(_grounds(frame, boxes)))
        if some:
            self._found.write_depths(targets, seen)
            write_floor(targets.depth_alone, seen, middles=True)

    def _draw_studios(
        self, frame: Frame, boxes: Boxes, parts: Sequence[Drawn], depthless: bool = False
    ) -> None:
        """Draw what stands behind everything, lit through all boxes. depthless: where depths let them."""
        scene, ctx = frame.scene, self.device.ctx
        looks = frame.view, frame.targets.size
        throw = self._shadows.thrown
        # a shadow of a solid falls as it does whichever box is asked
        dims = [
            dimmed(scene.floor, fluid.grid, volume.lighting.sun.frame, *looks, () if number else throw)
            for number, (fluid, volume) in enumerate(boxes)
        ]
        several = len(boxes) > 1 and scene.floor is not None
        if several:
            self._gather(frame, boxes, dims)
        ctx.enable_only(moderngl.DEPTH_TEST)
        ctx.depth_func = "<=" if depthless else "1"  # the first thing drawn: only its own depth is wanted
        self._draw_studio(frame, boxes, parts, union(dims), depthless, several)

    def _gather(self, frame: Frame, boxes: Boxes, dims: Sequence[Part]) -> None:
        """Gather the light on the floor from all boxes. dims: where the smoke of each dims it."""
        scene = frame.scene

        def lit(number: int, file: str, undimmed: bool) -> AbstractContextManager[moderngl.Program]:
            ground = Ground.CLEAR if undimmed else Ground.DIM
            rules: dict[str, Any] = {"vertex_file": WHERE_FIRE} if file == FLOOR_FIRE else {}
            return self._lit(scene, *boxes[number], "floor", file, shadowed=False, ground=ground, **rules)

        asked = scene.floor, dims, scene.fire is not None, bool(scene.lights)
        gather(self.device, frame.targets, [fluid for fluid, _ in boxes], frame.view, *asked, lit)

    def _draw_studio(
        self,
        frame: Frame,
        boxes: Boxes,
        parts: Sequence[Drawn],
        dim: Part,
        depthless: bool,
        several: bool,
    ) -> None:
        """What stands behind everything, lit through the first box, or by what was gathered from `several`.

        dim: where sun or sky may be dimmed. depthless: it writes no depth.
        """
        scene, view, size, (fluid, volume) = frame.scene, frame.view, frame.targets.size, boxes[0]
        values = {
            **ray_uniforms(view, fluid),
            **at_floor(scene.floor or 0.0, fluid.grid),
            "depth_scale": view.depth_scale,
            "picture_size": size,
            "backdrop_kind": BACKDROPS.get(str(frame.background), 0),
            "plain": frame.plain,
            "brightest": frame.targets.brightest,
            "own_color": frame.floor_color is not None,
            "floor_color": frame.floor_color or FLOOR,
        }
        plate = isinstance(frame.background, Plate)
        if plate:
            values |= self._plate_values(frame)
        whole = (0, 0, *size)
        if scene.floor is None:
            regions = {Ground.NONE: [whole]}
        else:  # all programs are made with the first picture, wherever the light falls in it
            ground = union(_grounds(frame, boxes))
            dim = common(ground, dim)
            regions = {
                Ground.DIM: [dim],
                Ground.CLEAR: around(dim, ground),
                Ground.NONE: around(ground, whole),
            }
        for kind, region in regions.items():
            of_all = several and kind is not Ground.NONE
            with self._lit(
                *(scene, fluid, volume, "studio", "render/studio.glsl"),
                ground=kind,
                shadowed=True,
                plate=plate,
                depthless=depthless,
                gathered=of_all,
            ) as program:
                give(program, values)
                light = gathered_for(self.device, frame.targets, program, scene.fire is not None)
                with light if of_all else nullcontext():
                    for target, piece in _pieces(parts, region):
                        with only(target, piece):
                            self.device.cover(program)

    @contextmanager
    def _lit(
        self,
        scene: SceneLike,
        fluid: FluidLike,
        volume: VolumeRenderer,
        label: str,
        file: str,
        *,
        shadowed: bool,
        ground: Ground = Ground.DIM,
        plate: bool = False,
        depthless: bool = False,
        gathered: bool = False,
        fire_alone: bool = False,
        added: bool = False,
        **rules: Any,
    ) -> Iterator[moderngl.Program]:
        """A program of the opaque scene with its light set, while the body runs.

        shadowed: solids throw shadows on it. ground: what it shows of the floor. plate: it shows one.
        depthless: it writes no depth. gathered: its light comes through several boxes. fire_alone: it adds
        that of the fire alone. added: with what other fires have added.
        """
        lighting, light = volume.lighting, scene.light
        any_shadows, lamps = self._shadows.any and ground is not Ground.NONE, bool(scene.lights)
        clear = ground is not Ground.DIM
        rules["defines"] = {
            "CLEAR": int(clear),
            "FLOOR": int(ground is not Ground.NONE),
            "PLATE": int(plate),
            "DEPTHLESS": int(depthless),
            "GATHERED": int(gathered),
            "FIRE_ALONE": int(fire_alone),
            "ADDED": int(added),
            "SHADOWED": int(shadowed and not clear and any_shadows),
            "LAMPS_SHADOWED": int(shadowed and lamps and any_shadows),
        }
        with lighting.program(fluid, label, file, solids=False, **rules) as program:
            give(program, {"sun_color": tuple(light.color), "ambient": tuple(light.ambient)})
            yield program

    def _fires_beside(
        self, scene: SceneLike, boxes: Boxes, shown: Sequence[Solids], *files: str
    ) -> list[AddedFire]:
        """The fires of other boxes that light solids of each, in programs of the shader `files`."""
        if scene.fire is None:
            return []
        return [
            AddedFire(number, partial(self._fire_lit, scene, boxes, number, fire, *files))
            for number, (_, placed) in enumerate(shown)
            for fire in range(len(boxes))
            if placed and fire != number
        ]

    @contextmanager
    def _fire_lit(
        self,
        scene: SceneLike,
        boxes: Boxes,
        number: int,
        fire: int,
        file: str,
        vertex_file: str = WHERE_FIRE,
    ) -> Iterator[moderngl.Program]:
        """A program that adds the light of box `fire` to solids of box `number`, while the body runs."""
        rules: dict[str, Any] = {"vertex_file": vertex_file, "handed": vertex_file == WHERE_FIRE}
        here, there = boxes[number][0].grid, boxes[fire][0].grid
        first = (np.array(here.origin) - there.origin) / there.cell_size
        label = "fire on solids"
        with self._lit(
            scene, *boxes[fire], label, file, shadowed=False, ground=Ground.CLEAR, fire_alone=True, **rules
        ) as program:
            give(program, {"among_others": (*first.tolist(), here.cell_size / there.cell_size)})
            yield program

    def _drop_plate(self) -> None:
        if self._plate is not None:
            self._plate[1].release()
            self._plate = None

    def _plate_values(self, frame: Frame) -> dict[str, Any]:
        """Bind the plate that is the background; return what its shader asks for."""
        plate = frame.background
        assert isinstance(plate, Plate)
        (height, width), across = plate.pixels.shape[:2], frame.targets.size
        if self._plate is None or self._plate[0] is not plate:
            self._drop_plate()
            texture = self.device.texture((width, height), 3, "f1", "the plate")
            texture.write(np.ascontiguousarray(plate.pixels[::-1]))
            texture.build_mipmaps()
            texture.filter = (moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR)
            self._plate = plate, texture
        self._plate[1].use(DEPTH)
        wider = width * across[1] / (height * across[0])
        share = min(1.0 / wider, 1.0), min(wider, 1.0)
        return {"plate": DEPTH, "plate_share": share, "plate_gain": 1.0 / float(frame.exposure)}

    def release(self) -> None:
        """Release what is its own; idempotent."""
        self._drop_plate()
        self._found.release()


def _pieces(parts: Sequence[Drawn], region: Sequence[Part]) -> Iterator[Drawn]:
    """Yield what of `parts` lies in the pieces of a `region`, where there is any."""
    for target, part in parts:
        for one in region:
            piece = common(part, one)
            if piece[2] and piece[3]:
                yield target, piece


def _grids(boxes: Boxes) -> list[Grid]:
    return [fluid.grid for fluid, _ in boxes]


def _grounds(frame: Frame, boxes: Boxes) -> list[Part]:
    """The parts of the picture outside which it shows nothing of the floor about each box."""
    return [floor_part(frame.scene.floor, grid, frame.view, frame.targets.size) for grid in _grids(boxes)]
