"""Obstacles as voxels: which cells are solid, how fast they move, which faces they close."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gpufluid.common.vectors import Floats, Triple
from gpufluid.contract.arguments import Cells, Faces, Heat, Image, Openings
from gpufluid.contract.backend import Backend, FieldStore, release
from gpufluid.contract.kernels import Variant
from gpufluid.description.boundaries import Boundaries
from gpufluid.description.grid import CellBox, Grid
from gpufluid.description.mesh import Mesh
from gpufluid.description.obstacles import Obstacle, Shape
from gpufluid.description.periodic import Held, came_from, cells_between, held, moved, nearest, periods
from gpufluid.description.shapes import MESH, Plane, placed_points
from gpufluid.description.voxels import surface_velocity, tie
from gpufluid.numerics.travel import Mark, Matrix, Travel, Voxelized, bent

# edges of a cell: what reaches no further in holds the middle of none, by more than voxelizing rounds
SHORT = 0.49
MOST_CHANGES = 1024  # boxes kept while nobody steps: of a solid that is dragged about in a pause
Boxes = dict[tuple[Shape, bytes], Sequence[CellBox] | None]  # of shapes where they stand; None: perhaps all
SHOWN = ("solid", "solid_faces", "openings", "marks", "slip_faces")  # the fields that kernels take


@dataclass
class Standing:
    """What is known of solids between two steps, beside what their fields hold.

    Its values are replaced and never changed in place, so a shallow copy keeps all of it.

    before: each obstacle as it was at the last step. voxels: what the fields hold. stepped: what they held in
    the last step, whoever has looked since. boxes: where the voxels are. closed: the field of the faces they
    close, None where there is no obstacle. to_cover: whether the voxels are new, and what was where they are
    now is still there. covered: whether a share of it still is. uncovered: whether solids may have left cells
    that hold nothing yet. emptied: whether cells of solids may hold nothing, as after a step, but not where
    solids have only been looked at. vacated: whether the last obstacle has gone, and the cells it was in are
    to be filled.
    """

    before: dict[Obstacle, tuple[Shape, Matrix]] = dataclasses.field(default_factory=dict)
    voxels: Sequence[Voxelized] = ()
    stepped: Sequence[Voxelized] = ()
    boxes: Boxes = dataclasses.field(default_factory=dict)
    closed: Literal["solid_faces", "slip_faces"] | None = None
    to_cover: bool = False
    covered: bool = False
    uncovered: bool = False
    emptied: bool = False
    vacated: bool = False

    @property
    def heats(self) -> bool:
        """Whether some of the voxels have a temperature."""
        return any(v.mark.heats for v in self.voxels)

    @property
    def slips(self) -> bool:
        """Whether some of the voxels are free-slip."""
        return any(v.mark.slips for v in self.voxels)


def _to_box(grid: Grid) -> Matrix:
    """[4, 4]: metres in the world to metres from the low corner of the box."""
    matrix = np.eye(4)
    matrix[:3, 3] = np.negative(grid.origin)
    return matrix


def _boxes(grid: Grid, shape: Shape, kept: Held) -> Sequence[CellBox] | None:
    """The corners, in cells, of what a shape and its images take up; None: perhaps all."""
    if isinstance(shape, Plane):
        return None
    return [cells_between(grid, shift, kept.low, kept.high) for shift in kept.there]


def _lies_beside(grid: Grid, boundaries: Boundaries, shape: Shape, place: Matrix) -> bool:
    """Whether a shape and all its images lie beside the box, where they hold the middle of no cell."""
    if isinstance(shape, Plane):
        return False
    kept, reach, far = held(grid, boundaries, shape, place), SHORT * grid.cell_size, np.array(grid.size)
    return not any(
        (np.add(kept.high, shift) > reach).all() and (np.add(kept.low, shift) < far - reach).all()
        for shift in kept.there
    )


class Solids:
    """The voxels of a fluid's obstacles, made anew when one has moved.

    What stands still beside the box costs nothing: a step is the one without it. But in a box that has moved
    since it was made it counts: it may come in at any step, and nothing should have to be compiled then.

    The fields exist from the first obstacle on. `faces`, `cells`, `openings` and `heat` are the arguments
    that kernels take of them, empty dicts while there is no obstacle, or none with a temperature. When solids
    change these are new dicts: whoever keeps one can tell by its identity.
    """

    def __init__(self, backend: Backend, boundaries: Boundaries) -> None:
        self.backend, self.boundaries = backend, boundaries
        self.faces: Faces = {}
        self.cells: Cells = {}
        self.openings: Openings = {}
        self.heat: Heat = {}
        self.pushing = False  # whether one has come on its way or bent, and not been put there, in this step
        self.on_way = False  # whether they stand where a part of a step has them
        self.reopened = False  # whether voxels have come or gone in the step or the part of one at hand
        self._state = Standing()
        self._fields: dict[str, FieldStore] = {}
        self._closable = False  # whether the field of their velocities is that of the voxels
        self._finer: Solids | None = None  # those that these are mirrored from
        self._mirrored: Cells | None = None  # the `cells` of those when these were made of them last
        self._travels: list[Travel] = []  # of all in the step at hand
        self._changes: list[CellBox] | None = []  # see `take_changes`
        self._beside: dict[tuple[Shape, bytes], bool] = {}  # of what stood still at the last look

    @property
    def present(self) -> bool:
        """True where there is an obstacle."""
        return bool(self.faces)

    @property
    def moving(self) -> bool:
        """True where an obstacle came from elsewhere in this step, and may have displaced fluid."""
        return any(v.motion.any() or bool(v.bends) for v in self._state.voxels)

    @property
    def to_cover(self) -> bool:
        """True until `were_covered`, where voxels have come over what is still there."""
        return self._state.to_cover

    @property
    def covered(self) -> bool:
        """True until `were_carried`, where cells that voxels came into hold a share of what was there."""
        return self._state.covered

    @property
    def uncovered(self) -> bool:
        """True until `were_carried`, where voxels may have left cells that hold nothing yet."""
        return self._state.uncovered

    def were_covered(self, partly: bool) -> None:
        """Nothing is any more where the voxels are, or `partly` a share of what was."""
        state = self._state
        state.to_cover, state.covered, state.uncovered = False, partly, self.present
        self.were_emptied()

    def were_emptied(self) -> None:
        """Cells that voxels are in may hold nothing."""
        self._state.emptied = self._state.emptied or self.present

    def were_carried(self) -> None:
        """What was in the cells that voxels came into, or have left, is where it belongs."""
        self._state.covered = self._state.uncovered = False

    @property
    def vacated(self) -> bool:
        """True from when the last obstacle goes until `take_vacated`."""
        return self._state.vacated

    def take_vacated(self) -> Cells:
        """Return the `cells` of no obstacle, by which those that the last one has left are filled."""
        self._state.vacated = self._state.emptied = False
        return {"solid": self._fields["solid"]}

    @property
    def solid(self) -> FieldStore | None:
        """Cells: 1 inside, or None while there is no obstacle."""
        return self.cells.get("solid")

    def update(self, obstacles: Sequence[Obstacle], dt: float | None) -> None:
        """Voxelize `obstacles` where they are now.

        dt: seconds since the last step, over which an obstacle came here from where it was. Where one has,
        `pushing`, `go_on` is to voxelize them. None only looks: what has come to another place since is at
        rest there.
        """
        looks, state = dt is None, self._state  # who only looks does not stop what moves
        if looks and self.on_way:
            return
        to_box = _to_box(self.backend.grid)
        places = {o: to_box @ o.matrix for o in obstacles}
        shown = {v.key for v in state.voxels} if looks else ()
        known, self._beside, self._travels = self._beside, {}, []
        for obstacle, place in places.items():
            came, was = self._origin(obstacle, place, dt)
            shape, key = obstacle.shape, (obstacle.shape, place.tobytes())
            if came is None and key not in shown and not any(self.backend.scrolled):
                if key not in known:
                    known[key] = _lies_beside(self.backend.grid, self.boundaries, shape, place)
                self._beside[key] = known[key]
                if known[key]:
                    continue
            surface = obstacle.surface_motion @ np.linalg.inv(to_box)
            self._travels.append(Travel(shape, place, surface, Mark.of(obstacle), came, was))
        self.pushing = any(travel.came is not None for travel in self._travels)
        if not looks:
            state.before = {o: (o.shape, place) for o, place in places.items()}
        if self.pushing:
            state.vacated = False  # one that was seen beside the box is on its way there yet
            return
        voxels = [travel.voxelized(0.0, 1.0, 0.0) for travel in self._travels]
        if [v.fingerprint(not looks) for v in voxels] != [v.fingerprint(not looks) for v in state.voxels]:
            self._voxelize(voxels)
            state.to_cover = self.present
        if not looks:
            self.reopened = [v.key for v in voxels] != [v.key for v in state.stepped]
            state.stepped = state.voxels

    def _origin(
        self, obstacle: Obstacle, place: Matrix, dt: float | None
    ) -> tuple[Matrix | None, Mesh | None]:
        """Return what `Travel` tells of how an obstacle came to `place` in `dt` seconds: `came` and `was`."""
        shape = obstacle.shape
        last, before = self._state.before.get(obstacle, (shape, place))
        if dt and isinstance(shape, Mesh) and isinstance(last, Mesh) and bent(last, shape):
            return before, last
        if dt and not np.array_equal(before, place):
            return came_from(self.backend.grid, self.boundaries, shape, before, place), None
        return None, None

    def go_on(self, part: int, count: int, dt: float) -> None:
        """Voxelize all where it is at the end of a part, 1 to `count`, of the step of `dt` seconds at hand.

        It stays there until `on_way` is False again, whoever looks.
        """
        if part == 1 and count > 1:
            self._travels = [self._by_nearest_image(travel) for travel in self._travels]
        voxels = [travel.voxelized((part - 1) / count, part / count, dt / count) for travel in self._travels]
        self._state.stepped = voxels
        self._voxelize(voxels)
        self._state.to_cover = self.on_way = self.reopened = True

    def _by_nearest_image(self, travel: Travel) -> Travel:
        """The same of the nearest image of a mesh that bends, or as of a solid that was put where it is."""
        if travel.was is None or travel.came is None or not isinstance(travel.shape, Mesh):
            return travel
        moves = self._moves(travel.was, travel.came, travel.shape, travel.place)
        if moves is None:
            return travel._replace(came=None, was=None)
        return travel._replace(came=moved(travel.came, moves[2]))

    def mirror(self, finer: Solids) -> None:
        """Be what `finer` holds, of the same box in cells half as large."""
        self._finer, voxels = finer, finer._state.voxels
        if finer.present and not finer._closable:
            finer._voxelize(voxels)
        if self._mirrored is not finer.cells:
            self._mirrored, self._state.voxels = finer.cells, voxels
            if voxels:
                self._restrict(finer)
            else:
                self._clear()
        self.reopened, finer.reopened = finer.reopened, False

    def _restrict(self, finer: Solids) -> None:
        """Let the fields hold what those of `finer` do."""
        self._make_fields()
        run, fields, fine = self.backend.kernel, self._fields, finer._fields
        variant = Variant(solids=True, boundaries=self.boundaries)
        solids = fields["solid_velocity"]
        run("restrict_solids", variant)(solid_velocity=solids, fine_solid_velocity=fine["solid_velocity"])
        if "marks" in fields:
            run("restrict_marks", variant)(marks=fields["marks"], fine_marks=fine["marks"])
        self._finish()

    def take_changes(self) -> Sequence[CellBox] | None:
        """Return where solids have come or gone since this was last asked, cells; None: perhaps anywhere."""
        changes, self._changes = self._changes, []
        return changes

    def begin_anew(self, obstacles: Sequence[Obstacle]) -> None:
        """Voxelize `obstacles` where they are now, at rest: where any was before is forgotten."""
        state = self._state
        state.before = {}
        self.were_carried()
        self.update(obstacles, None)
        state.stepped = state.voxels
        state.to_cover = self.present  # the next step clears what they cover: they may be moved before
        state.emptied = self.present

    def scroll(self, obstacles: Sequence[Obstacle], before: Grid) -> None:
        """Voxelize what the last step did anew, where it is seen from a box that stood at `before`.

        Not what has moved since and been looked at: the next step covers what that comes into.
        """
        then, now = _to_box(before), _to_box(self.backend.grid)
        # to the bit what `update` works out, so that what stands still does not seem to move
        known = {(then @ o.matrix).tobytes(): now @ o.matrix for o in obstacles}
        back = then @ np.linalg.inv(now)

        def seen(place: Matrix) -> Matrix:
            exact = known.get(place.tobytes())
            return now @ np.linalg.inv(then) @ place if exact is None else exact

        state, voxels = self._state, list[Voxelized]()
        state.before = {key: (shape, seen(place)) for key, (shape, place) in state.before.items()}
        for was in state.stepped:
            bends = was.bends
            if bends:
                bends = bends[0], seen(np.frombuffer(bends[1]).reshape(4, 4)).tobytes(), bends[2]
            place, motion = seen(was.place), was.motion @ back
            voxels.append(Voxelized.of(was.shape, place, motion, was.mark, bends))
        some, state.stepped = bool(state.voxels or voxels), voxels
        if some:
            self._voxelize(voxels)
            state.to_cover = self.present
        self._changes = None

    def history(self, obstacles: Sequence[Obstacle]) -> tuple[list[Any], list[Voxelized]]:
        """What `recall` takes: each obstacle as it was at the last step, or None, and what was voxelized."""
        return [self._state.before.get(o) for o in obstacles], list(self._state.stepped)

    def recall(
        self, obstacles: Sequence[Obstacle], before: list[Any], voxels: list[Any], holes: bool
    ) -> None:
        """Go on from the `history`, which `check_history` knows, of solids with these obstacles.

        holes: whether cells hold nothing, as where a program writes while an obstacle that no step has met
            stands there. If that goes, they are cells that the last obstacle has left.
        """
        state, known = self._state, zip(obstacles, before, strict=True)
        state.before = {o: (was[0], was[1]) for o, was in known if was is not None}
        state.stepped = [Voxelized(*v)._replace(mark=Mark(*v[2])) for v in voxels]
        self._voxelize(state.stepped)
        self.were_carried()
        state.to_cover = self.present  # it may be clear already: to do it again changes nothing
        state.emptied = holes or self.present
        state.vacated = holes and not self.present
        if state.vacated:
            self._make_fields()
            self._fields["solid"].fill([0.0])
        self._changes = None

    def take(self, other: Solids) -> list[str]:
        """Show what `other` holds, in fields of it that are held; return the names of these."""
        names = [name for name in SHOWN if name in other._fields]
        for name in names:
            self._fields[name] = other._fields[name].held(self._fields.get(name))
        self._state = dataclasses.replace(other._state)
        self._hand_out()
        return names

    def go_back(self, still: Solids, names: Sequence[str]) -> None:
        """Be again what `still` took; names: what that returned."""
        for name in names:
            self._fields[name].take_back(still._fields[name])
        self._state = dataclasses.replace(still._state)
        self._hand_out()
        self._closable = self.on_way = False  # they may be those of a step given up
        self._changes = None

    def warm(self, dt: float, variant: Variant, *, scalars: FieldStore) -> None:
        """Heat the fluid beside solids with a temperature; nothing runs where there is none."""
        if self.heat:
            self.backend.kernel("heat_fluid", variant)(scalars=scalars, dt=dt, **self.heat)

    def slip(self, variant: Variant, *, velocity: FieldStore) -> None:
        """Give the faces inside free-slip solids the velocity of the fluid round them.

        Only what is interpolated beside a solid sees them: it is then not dragged along. Nothing runs where
        no solid is free-slip.
        """
        if self._state.slips:
            fields, run = self._fields, self.backend.kernel
            closed, slip = fields["solid_faces"], fields["slip_faces"]
            run("let_slip", variant)(velocity=velocity, solid_faces=closed, slip_faces=slip)
            self._close_by("slip_faces")
            run("constrain", variant)(velocity=velocity, **self.faces)

    def stiffen(self, variant: Variant, *, velocity: FieldStore) -> None:
        """Give the faces inside free-slip solids the velocity of these, until `slip`."""
        if self._state.slips:
            self._close_by("solid_faces")
            self.backend.kernel("constrain", variant)(velocity=velocity, **self.faces)

    def normals(self) -> FieldStore | None:
        """Cells: unit normals out of the solids, or None while there is no obstacle."""
        if not self.present:
            return None
        if "normals" not in self._fields:
            self._fields["normals"] = self.backend.field("normals", "cell", buffers=1)
        normals = self._fields["normals"]
        variant = Variant(solids=True, boundaries=self.boundaries)
        self.backend.kernel("solid_normals", variant)(normals=normals, **self.cells)
        return normals

    def _bend(
        self,
        mesh: Mesh,
        place: Matrix,
        bends: tuple[Mesh, bytes, float],
        shift: Triple,
        image: Image,
        box: Sequence[CellBox] | None,
    ) -> None:
        """Give the voxels of an image of a mesh, `shift` off (m), the velocity of its surface.

        That is from where its vertices were before. box: as of `_images`.
        """
        (was, before, dt), backend = bends, self.backend
        moves = self._moves(was, np.frombuffer(before).reshape(4, 4), mesh, place)
        if moves is None:
            return
        then, now, _ = moves
        if "drift" not in self._fields:
            self._fields["drift"] = backend.field("drift", "cell", buffers=1)
        drift = surface_velocity(backend.grid.local, then + shift, now + shift, mesh.triangles)
        drift[..., :3] /= dt
        self._fields["drift"].write(drift)
        backend.kernel("add_drift", Variant(solids=True)).within(
            box,
            solid_velocity=self._fields["solid_velocity"],
            drift=self._fields["drift"],
            mean_drift=tuple((now - then).mean(axis=0) / dt),
            **image,
        )

    def _moves(
        self, was: Mesh, before: Matrix, mesh: Mesh, place: Matrix
    ) -> tuple[Floats, Floats, Floats] | None:
        """Return where the vertices of a mesh were, of the nearest image, where they are, and its shift, m.

        None where one has gone further than the mesh is large: it was put there.
        """
        then, now = placed_points(before, was.vertices), placed_points(place, mesh.vertices)
        shift = nearest(periods(self.backend.grid, self.boundaries), (now - then).mean(axis=0))
        then += shift
        if np.linalg.norm(now - then, axis=1).max() > np.linalg.norm(np.ptp(now, axis=0)):
            return None
        return then, now, shift

    def _images(
        self, shape: Shape, place: Matrix, kept: Held, boxes: Sequence[CellBox] | None
    ) -> Iterator[tuple[Triple, Image, Sequence[CellBox] | None]]:
        """Yield by how much each image in the box is off, m, what tells kernels of its voxels, and its box.

        boxes: as of `_boxes`.
        """
        winding = self._fields["winding"]
        each = [None] * len(kept.there) if boxes is None else [[box] for box in boxes]
        if isinstance(shape, Mesh):
            low, high = np.array(kept.low), np.array(kept.high)
            half = tuple((high - low) / 2)
            for shift, box in zip(kept.there, each, strict=True):
                self.backend.voxelize(shape, moved(place, shift), winding)
                to_local = moved(np.eye(4), -(low + high) / 2 - shift)
                image = Image(winding=winding, shape=MESH, to_local=to_local, extent=half, rounding=0.0)
                yield shift, image, box
            return
        form = kept.form
        assert form is not None
        for shift, box in zip(kept.there, each, strict=True):
            to_local = np.linalg.inv(moved(place @ form.place, shift)).astype(np.float64, copy=False)
            reach = form.rounding + tie(self.backend.grid, to_local)
            # metres of that space may be next to none in the world, and squares of such no floats
            least = float(np.linalg.norm(to_local[:3, :3], axis=0).min())
            unit = 2.0 ** math.floor(math.log2(least))  # which changes no digit
            to_local[:3] /= unit
            core = tuple(edge / unit for edge in form.core)
            image = Image(
                winding=winding, shape=form.kind, to_local=to_local, extent=core, rounding=reach / unit
            )
            yield shift, image, box

    def _note_changes(self, now: Boxes) -> None:
        """Keep the boxes round what has come, moved or gone. now: those round each solid and its images."""
        before, self._state.boxes = self._state.boxes, now
        for key, boxes in (*before.items(), *now.items()):
            if (key in before) != (key in now):
                self._changes = None if boxes is None or self._changes is None else [*self._changes, *boxes]
        if self._changes is not None and len(self._changes) > MOST_CHANGES:
            self._changes = None

    def _make_fields(self) -> None:
        """Make the fields of solids that are missing."""
        make, mirrored = self.backend.field, self._finer is not None
        drawn = 1 if mirrored else 2  # textures of what each solid is added to, or all are made at once
        if not self._fields:
            self._fields = {
                "solid": make("solid", "cell", 1, buffers=1),
                "solid_velocity": make("solid_velocity", "cell", buffers=drawn),
                "solid_faces": make("solid_faces", "face", buffers=2 if mirrored else 1),
                "openings": make("openings", "pack", 1, buffers=1, exact=True),
            }
            if not mirrored:
                self._fields["winding"] = make("winding", "octet", buffers=1, exact=True)
        fields, state = self._fields, self._state
        if (state.heats or state.slips) and "marks" not in fields:
            fields["marks"] = make("marks", "cell", buffers=drawn)
        if state.slips and "slip_faces" not in fields:
            fields["slip_faces"] = make("slip_faces", "face", buffers=1)

    def _voxelize(self, voxels: Sequence[Voxelized]) -> None:
        """Let the fields hold `voxels`."""
        state, grid, sides = self._state, self.backend.grid, self.boundaries
        state.voxels = voxels
        kept = {v.key: held(grid, sides, v.shape, v.place) for v in voxels}
        boxes = {key: _boxes(grid, key[0], its) for key, its in kept.items()}
        self._note_changes(boxes)
        if not voxels:
            self._clear()
            return
        state.vacated = False
        run, variant = self.backend.kernel, Variant(solids=True, boundaries=sides)
        self._make_fields()
        fields, solids, marked = self._fields, self._fields["solid_velocity"], state.heats or state.slips
        solids.fill([0.0])
        if marked:
            fields["marks"].fill([0.0])
        for v in voxels:
            for shift, image, box in self._images(v.shape, v.place, kept[v.key], boxes[v.key]):
                seen = v.motion if not any(shift) else v.motion @ moved(np.eye(4), np.negative(shift))
                run("add_obstacle", variant).within(box, solid_velocity=solids, motion=seen, **image)
                if v.bends:
                    assert isinstance(v.shape, Mesh)
                    self._bend(v.shape, v.place, v.bends, shift, image, box)
                if marked:
                    run("mark_obstacle", variant).within(box, marks=fields["marks"], mark=v.mark, **image)
        self._finish()

    def _clear(self) -> None:
        """Let there be no solids."""
        if self.present:
            self._fields["solid"].fill([0.0])
            self._state.vacated = self._state.emptied
        self._state.closed = None
        self._hand_out()

    def _finish(self) -> None:
        """Let the other fields be those of what `solid_velocity` and `marks` hold."""
        self._close_faces()
        variant = Variant(solids=True, boundaries=self.boundaries)
        run, fields = self.backend.kernel, self._fields
        run("find_solid", variant)(solid=fields["solid"], solid_velocity=fields["solid_velocity"])
        run("open_neighbours", variant)(solid_faces=fields["solid_faces"], openings=fields["openings"])
        self._hand_out()

    def _close_faces(self) -> None:
        """Close the faces of the voxels as they are, and those of the sides."""
        fields, slips = self._fields, self._state.slips
        variant = Variant(solids=True, boundaries=self.boundaries, slip=slips)
        slip = {"marks": fields["marks"]} if slips else {}
        self.backend.kernel("close_faces", variant)(
            solid_velocity=fields["solid_velocity"], solid_faces=fields["solid_faces"], **slip
        )
        if self._finer is not None:
            self.backend.kernel("restrict_faces", variant)(
                solid_faces=fields["solid_faces"], fine_solid_faces=self._finer._fields["solid_faces"]
            )
        self._close_by("solid_faces")
        self._closable = True

    def _close_by(self, name: Literal["solid_faces", "slip_faces"]) -> None:
        """Let kernels take the field of that `name` for the closed faces."""
        self._state.closed, self.faces = name, {"solid_faces": self._fields[name]}

    def _hand_out(self) -> None:
        """Make what kernels take anew."""
        fields, closed = self._fields, self._state.closed
        self.faces, self.cells, self.openings, self.heat = {}, {}, {}, {}
        if closed is not None:
            self.faces = {"solid_faces": fields[closed]}
            self.cells = {"solid": fields["solid"]}
            self.openings = {"openings": fields["openings"]}
            self.heat = {"marks": fields["marks"]} if self._state.heats else {}

    def use_sides(self, boundaries: Boundaries) -> None:
        """Go on in a box with these sides, whose faces are closed together with those of the solids."""
        self.boundaries = boundaries
        if self.present and self._closable:
            self._close_faces()
        elif self.present:
            self._voxelize(self._state.voxels)

    def release(self) -> None:
        """Release the fields."""
        release(*self._fields.values())
        self._fields.clear()
        self._state = Standing()
        self._hand_out()
