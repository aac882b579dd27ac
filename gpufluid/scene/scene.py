"""A scene: fluids, how they are looked at, and what happens in them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gpufluid.common import rules
from gpufluid.common.checks import finite_number, finite_triple, radiance
from gpufluid.common.errors import GpufluidError, counted, each_once, named, several, told_of, warn
from gpufluid.common.files import named_file
from gpufluid.common.vectors import Listed, Number, Real, RealOrNone, Triple, Vector
from gpufluid.contract.backend import release
from gpufluid.description.flow_views import FlowView
from gpufluid.description.grid import TINY
from gpufluid.description.hand import REACH, Hand
from gpufluid.description.obstacles import Obstacle, as_now
from gpufluid.description.shapes import Capsule, Sphere
from gpufluid.description.sources import Emitter, Source
from gpufluid.description.view import Camera, Fire, Light, Look, Picture, PointLight, Smoke
from gpufluid.engine.checkpoint import check_grid, saved_start
from gpufluid.engine.fluid import Fluid
from gpufluid.scene.provenance import Provenance

Story = Iterator[Any]
Cells = tuple[int, int, int]

SUFFIXES = ".toml", ".py"
NOT_IN_NAMES = ".[]="
AZIMUTH, ELEVATION = 25.0, 12.0  # of a camera that nobody has placed, degrees
SOFT = 0.5  # of a hand's reach, over which it fades outside that
EYE = "target", "distance", "azimuth", "elevation"  # of a camera, what its eye is made of
FROM_FRONT = (0.3, -0.4, -1.0)  # along one slice light shows where its rays come into it, as stripes
FASTEST = 4.0  # lengths of the box per second that a hand can push at


class FreeCamera(NamedTuple):
    """A camera that nobody has placed: how it looks in all frames, and where its scene had it stand."""

    seen: Sequence[Camera]
    target: Triple
    distance: float


@named
@dataclass
class Scene:
    """A fluid and everything needed to show it, as a film or in a window; `gpufluid.run` plays it.

    fluid: what is simulated.
    dt: seconds per frame.
    others: more fluids, each in its own box, stepped and drawn as well.
    camera: where it is seen from; None: from where all boxes are seen whole.
    light: the sun; None: a `Light()`, in 2D one from the front.
    lights: up to four more lights; as ``views`` a list, which may be added to.
    smoke: how smoke looks.
    fire: how hot gas glows; None: it does not.
    floor: height of a ground plane that catches the shadow, metres, or None.
    views: of the flow, in every box or in one, drawn into the picture: `gf.ParticlesView` and others.
    picture: its size and how it is drawn.
    title: the window's.
    update: a function called as ``update(scene, time)`` before each frame, time in seconds.
    story: a generator; each ``yield`` of it is one frame, and the scene ends where it does.
    frames: how many the scene lasts; None: it has no end.
    hand: what a drag of the mouse does to the fluid in a window; None: it turns the view, except in 2D, where
        it is a plain `Hand()`.
    names: emitters, obstacles, forces, lights, views and fluids by name.
    seed: of the noise in the formulas of a description.

    frame: how many frames have been played.
    touched: whether a drag has acted on the fluid yet.
    live: what draws the views, made by the renderer that first does.
    provenance: what is known of the file that it was read from.

    Raises GpufluidError naming the field and what it should be.
    """

    fluid: Fluid
    camera: Camera = None  # type: ignore[assignment]  # see __post_init__, and so of the light
    light: Light = None  # type: ignore[assignment]
    smoke: Smoke = field(default_factory=Smoke)
    dt: Real = rules.number(1.0 / 30.0, low=0.0)
    floor: RealOrNone = rules.number(None)
    update: Callable[[Scene, float], None] | None = None
    title: str = "gpufluid"
    frame: int = rules.whole(0, low=0)
    fire: Fire | None = None
    lights: Listed[Light | PointLight] = ()  # type: ignore[assignment]
    picture: Picture = field(default_factory=Picture)
    frames: int | None = rules.whole(None, low=1)
    story: Story | None = None
    others: Sequence[Fluid] = ()
    names: dict[str, Any] = field(default_factory=dict)
    seed: int = rules.whole(0)
    hand: Hand | None = None
    touched: bool = False
    views: Listed[FlowView] = ()  # type: ignore[assignment]
    live: Any = None
    provenance: Provenance = field(default_factory=Provenance, init=False, repr=False, compare=False)
    _time: float = field(default=0.0, init=False, repr=False)
    _over: bool = field(default=False, init=False, repr=False)
    _strokes: list[tuple[Fluid, Emitter]] = field(default_factory=list, init=False, repr=False)
    _snaps: list[Path] = field(default_factory=list, init=False, repr=False)
    _camera_before: Camera | None = field(default=None, init=False, repr=False)  # the camera a frame ago
    # the obstacles as they were at the end of the last frame, and of the one before
    _stand: Mapping[Obstacle, Obstacle] = field(default_factory=dict, init=False, repr=False)
    _stood: Mapping[Obstacle, Obstacle] = field(default_factory=dict, init=False, repr=False)
    # how a camera looks that nobody has placed, none: somebody has; and where it has been placed since
    _seen: Sequence[Camera] = field(default=(), init=False, repr=False)
    _clipping: tuple[float, float] = field(default=(0.0, 0.0), init=False, repr=False)
    _placed: tuple[Any, ...] = field(default=(), init=False, repr=False)
    _aspect: float | None = field(default=None, init=False, repr=False)  # of the picture it was placed for
    # the things whose fields follow a hand, not the file
    _held: dict[tuple[int, str], Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        flat = isinstance(self.fluid, Fluid) and self.fluid.grid.dimensions == 2
        unplaced = self.camera is None
        if unplaced:
            azimuth, elevation = direction_of_view(flat)
            self.camera = Camera(azimuth=azimuth, elevation=elevation)
        if self.light is None:
            self.light = Light(FROM_FRONT) if flat else Light()
        self._check()
        if unplaced:
            self.place_camera([self.camera])

    if not TYPE_CHECKING:  # a type checker would let every name pass

        def __setattr__(self, name: str, value: object) -> None:
            if name in ("lights", "views") and isinstance(value, tuple):
                value = list(value)  # which may be added to: each picture checks them
            super().__setattr__(name, value)

    def _check(self) -> None:
        """Raise GpufluidError naming the first field that no scene can have."""
        rules.check_fields(self)
        for name, kind in (
            ("fluid", Fluid),
            ("camera", Camera),
            ("light", Light),
            ("smoke", Smoke),
            ("picture", Picture),
        ):
            if not isinstance(getattr(self, name), kind):
                raise GpufluidError(f"Scene.{name} must be a gf.{kind.__name__}, got {getattr(self, name)!r}")
        Look(self.light, self.smoke, self.fire, self.lights).check()
        if not isinstance(self.hand, Hand | None):
            raise GpufluidError(f"Scene.hand must be a gf.Hand or None, got {self.hand!r}")
        for name in ("others", "views"):
            several(getattr(self, name), f"Scene.{name}")
        for number, other in enumerate(self.others):
            if not isinstance(other, Fluid):
                raise GpufluidError(f"Scene.others[{number}] must be a gf.Fluid, got {other!r}")
        each_once(self.fluids, "Scene.fluids")
        if self.update is not None and not callable(self.update):
            raise GpufluidError(f"Scene.update must be a function (scene, time) or None, got {self.update!r}")
        if self.story is not None and not isinstance(self.story, Iterator):
            raise GpufluidError(f"Scene.story must be a generator or None, got {self.story!r}")
        if not isinstance(self.names, dict):
            raise GpufluidError(f"Scene.names must be a dict of parts by their names, got {self.names!r}")
        if not isinstance(self.title, str):
            raise GpufluidError(f"Scene.title must be text, got {self.title!r}")
        self._check_views()

    def _check_views(self) -> None:
        for number, view in enumerate(self.views):
            if not isinstance(view, FlowView):
                raise GpufluidError(
                    f"Scene.views[{number}] must be a description such as gf.StreamlinesView, got {view!r}"
                )
            try:
                view.boxes(self.box_names)
            except GpufluidError as error:
                raise GpufluidError(f"Scene.views[{number}].box {error}") from None
        each_once(self.views, "Scene.views")

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        ctx: Any = None,
        *,
        changes: Sequence[str] = (),
        cells: Cells | Sequence[Cells | None] | None = None,
        backend: str = "auto",
    ) -> Scene:
        """Return the scene of a file: a description (.toml) or a script (.py).

        ctx: the GL context it lives in; None: one of its own. changes: assignments that override the file, as
        in "settings.viscosity=0.001" (of a script: parameters of its function). cells: of the first grid, or,
        of a description, for each grid its own or None; a box stays as wide or as high as it was, whichever
        is more, on its floor and round its middle. Where none are given, those of the file count: its
        `gpu_cells` on a GPU, else its `cells`. backend: as in `Fluid`.
        Raises SceneError naming the file, the place in it and what was expected there; for what a script
        raises, then or later, the line. A script is Python and may do anything: run only those you trust. A
        description runs nothing.
        """
        several(changes, "Scene.load changes")
        for number, change in enumerate(changes):
            if not isinstance(change, str):
                told = "text, as in 'settings.viscosity=0.001'"
                raise GpufluidError(f"Scene.load changes[{number}] must be {told}, got {change!r}")
        _check_cells(cells)
        if scene_suffix(path) == ".toml":
            from gpufluid.scene.file import load_description as read
        else:
            from gpufluid.scene.script import load_script as read
        return read(Path(path), ctx, changes, cells, backend)

    @property
    def fluids(self) -> tuple[Fluid, ...]:
        """All fluids, the first one first."""
        return self.fluid, *self.others

    @property
    def box_names(self) -> tuple[str, ...]:
        """What the box of each fluid is called: its name in `names`, else "box 1", "box 2" by its place."""
        return box_names(self.fluids, self.names)

    @property
    def time(self) -> float:
        """Seconds simulated so far."""
        return self._time

    @property
    def over(self) -> bool:
        """Whether the scene has ended: its story, or its frames."""
        return self._over or (self.frames is not None and self.frame >= self.frames)

    def frame_all(self, aspect: float | None = None) -> None:
        """Place the camera so that it sees all boxes whole, from the side that it is on.

        aspect: width of the picture over its height; None: that of `picture`. Raises GpufluidError for one
        that is not > 0.
        """
        self._frame([self.camera], aspect)

    def fit(self, aspect: float) -> None:
        """`frame_all` for a picture of that `aspect`, unless somebody has placed the camera or moved it
        since.

        If a description turns or opens the camera, it is put far enough away for each of its frames.
        """
        if self._fits:
            self.place_camera(self._seen, aspect)

    @property
    def camera_is_free(self) -> bool:
        """Whether nobody has placed the camera, or moved it since: only then does `fit` place it."""
        held = any(thing is self.camera for thing in self._held.values())
        return self._fits and not held

    @property
    def clipping_as_given(self) -> tuple[float, float]:
        """`near` and `far` of a camera that nobody has placed, as they were before it was placed first."""
        return self._clipping

    @property
    def camera_is_given(self) -> bool:
        """Whether the scene came with a camera in its place, which is one for the shape of `picture`."""
        return not self._seen

    @property
    def free_camera(self) -> FreeCamera | None:
        """How the camera is left to be placed, for `let_camera_go`; None: somebody has placed or moved it."""
        if not self.camera_is_free:
            return None
        near, far = self._clipping
        seen = [replace(camera, near=near, far=far) for camera in self._seen]
        x, y, z = map(float, self.camera.target)
        return FreeCamera(seen, (x, y, z), self.camera.distance)

    def let_camera_go(self, free: FreeCamera) -> None:
        """Let the camera be placed again, as a scene's that was built before had it, unless it was moved.

        free: that scene's `free_camera`, whose file has said where it stood, in six digits.
        """
        stands = *self.camera.target, self.camera.distance
        pairs = zip((*free.target, free.distance), stands, strict=True)
        stayed = all(math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-5 * free.distance) for a, b in pairs)
        if self.camera_is_given and stayed:
            self.place_camera(free.seen, self._aspect)

    @property
    def _fits(self) -> bool:
        placed = id(self.camera), self.camera.target, self.camera.distance
        return bool(self._seen) and self._placed == placed

    def place_camera(self, seen: Sequence[Camera], aspect: float | None = None) -> None:
        """Let the camera, which nobody has placed, see all boxes whole in all its frames.

        seen: how it looks in these. aspect: as in `frame_all`, which raises as this does.
        """
        if not self._seen:
            self._clipping = seen[0].near, seen[0].far
        self._seen, self._aspect = seen, aspect
        self._frame(seen, aspect)
        self._placed = id(self.camera), self.camera.target, self.camera.distance

    def _frame(self, seen: Sequence[Camera], aspect: float | None) -> None:
        """Move the camera as far off as it must be to see all boxes whole, looking in any of those ways."""
        boxes = [(fluid.grid.origin, fluid.grid.upper) for fluid in self.fluids]
        low = [min(box[0][axis] for box in boxes) for axis in range(3)]
        high = [max(box[1][axis] for box in boxes) for axis in range(3)]
        width, height = self.picture.size
        cameras = [replace(camera) for camera in seen]
        for camera in cameras:
            camera.frame(low, high, width / height if aspect is None else aspect)
        farthest = max(cameras, key=lambda camera: camera.distance)
        self.camera.target, self.camera.distance = farthest.target, farthest.distance
        self.camera.near, self.camera.far = min(c.near for c in cameras), max(c.far for c in cameras)

    @property
    def camera_ahead(self) -> Camera:
        """The camera of the next frame, if it goes on as it came since the last; before that, as it is."""
        return self.camera.after(self.camera if self._camera_before is None else self._camera_before)

    @property
    def stood(self) -> Mapping[Obstacle, Obstacle]:
        """Each obstacle of the frame before the last, and what it was at its end; none before the second."""
        return self._stood

    def advance(self) -> None:
        """Advance the story and `update` by one frame, then step the fluids; nothing once it is `over`."""
        self._advance(step=True)

    def resume(self, *paths: str | os.PathLike[str]) -> None:
        """Continue where `paths`, files of `Fluid.save`, were written: one for each fluid of this scene.

        The scene must not have been played yet: the story and `update` run up to that time without a step of
        the fluids, and then these take their states. What a story decides by reading a fluid may come out
        differently. Raises GpufluidError as `Fluid.restore` does, for a scene that was played, and for one
        that ends before. A scene of other cells than were saved, as a file with `gpu_cells` has on another
        machine, is to be loaded with those: `Scene.load(..., cells=...)`.
        """
        if len(paths) != len(self.fluids):
            files = counted(len(self.fluids), "file")
            raise GpufluidError(f"Scene.resume needs {files}, one for each fluid, got {len(paths)}")
        if self.frame:
            raise GpufluidError(f"Scene.resume needs a scene not played yet, this has had frame {self.frame}")
        starts = [saved_start(path) for path in paths]
        for fluid, path, (grid, _) in zip(self.fluids, paths, starts, strict=True):
            check_grid(path, grid, fluid.made)  # while this scene is as it was
        end = starts[0][1] - self.fluid.time
        # as a run from the beginning does it, not for where the story has turned the camera to
        if self._fits:
            self.place_camera([replace(camera) for camera in self._seen], self._aspect)
        while self.time < end - 0.5 * self.dt:
            before = self.frame
            self._advance(step=False)
            if self.frame == before or self.dt == 0.0:
                raise GpufluidError(f"{paths[0]}: was saved at {end:g} s, where this scene has ended")
        self.take_snaps()
        for fluid, path in zip(self.fluids, paths, strict=True):
            fluid.restore(path)

    @contextmanager
    def told(self, place: str = "") -> Iterator[None]:
        """Errors inside name the file that the scene was read from, and the place or the line in it.

        place: where nothing tells it better.
        """
        origin = self.provenance
        if origin.file is None:
            yield
            return
        with told_of(origin.file, lambda error: origin.place_of(error, self._time) or place):
            yield

    def _advance(self, step: bool) -> None:
        if self.over:
            return
        with self.told():
            came = replace(self.camera)
            if self.story is not None:
                try:
                    next(self.story)
                except StopIteration:
                    self._over = True
                    return
            if self.update is not None:
                self.update(self, self.time)
            for fluid in self.fluids if step else ():
                fluid.step(self.dt)
            if self.live is not None:
                self.live.advance(self.dt)
        self.frame += 1
        self._time += self.dt
        self._camera_before = came
        self._stood, self._stand = self._stand, {o: as_now(o) for f in self.fluids for o in f.obstacles}
        for fluid, emitter in self._strokes:
            if emitter in fluid.emitters:  # nobody has cleared them
                fluid.emitters.remove(emitter)
        self._strokes.clear()

    # -- for editors -----------------------------------------------------------------------------------

    def hold(self, thing: Any, name: str, held: bool = True) -> None:
        """From now on keyframes and formulas of a description leave field `name` of `thing` as it is.

        When it is saved, the file gets its value, not what it said before. held: False lets it follow the
        file again.
        """
        if held:
            self._held[id(thing), name] = thing
        else:
            self._held.pop((id(thing), name), None)

    def is_held(self, thing: Any, name: str) -> bool:
        """Whether `hold` was called for field `name` of `thing`.

        The eye of a camera is held with any field that says where it stands, and these with the eye.
        """
        with_it: tuple[str, ...] = ()
        if isinstance(thing, Camera):
            with_it = EYE if name == "eye" else ("eye",) if name in EYE[1:] else ()
        return any((id(thing), each) in self._held for each in (name, *with_it))

    def rename(self, thing: Any, name: str | None) -> None:
        """Call `thing`, a part of this scene, `name`; None: it has no name. Views of a renamed box follow.

        Raises GpufluidError for what nothing can be called, what another part is called, and what has no name
        in a description, and leaves everything as it was.
        """
        if name is not None:
            parts = {id(part) for part in self.parts()}
            check_name(name, (n for n, t in self.names.items() if t is not thing and id(t) in parts))
        if thing is self.fluid and any(place == "grid" for _, place in self.provenance.places):
            raise GpufluidError("only a box of [[containers]] has a name, and this one is the file's [grid]")
        names = {n: t for n, t in self.names.items() if t is not thing and n != name}
        if name is not None:
            names[name] = thing
        before, after = self.box_names, box_names(self.fluids, names)
        if len(set(after)) < len(after):
            raise GpufluidError(f"each box must have a name of its own, got {', '.join(after)}")
        self.names.clear()
        self.names.update(names)
        for view in self.views:
            if view.box in before:
                view.box = after[before.index(view.box)]

    def parts(self) -> Iterator[Any]:
        """Everything that may have a name."""
        for fluid in self.fluids:
            yield fluid
            yield from (*fluid.emitters, *fluid.obstacles, *fluid.forces)
        yield from (*self.lights, *self.views)

    # -- for stories -----------------------------------------------------------------------------------

    def wait(self, seconds: Number) -> Story:
        """Let `seconds` > 0 pass in a story, at least one frame: ``yield from scene.wait(2.0)``.

        Raises GpufluidError for other seconds, with the first frame, and if `dt` is 0, as no time passes.
        Without `yield from` there is none, as a RuntimeWarning says.
        """
        return _Waiting(seconds, self._frames_of(seconds))

    def _frames_of(self, seconds: Number) -> Story:
        """The frames of `wait`."""
        end = self.time + finite_number(seconds, "seconds", above=0.0)
        while True:
            if self.dt < TINY:  # over which a fluid stands still
                raise GpufluidError(f"wait({seconds:g}) never ends: Scene.dt is {self.dt:g} s a frame")
            yield
            if self.time >= end - 0.5 * self.dt:
                return

    def draw(
        self,
        shape: Source,
        density: Number = 0.0,
        *,
        color: Vector | None = None,
        temperature: Number | None = None,
        velocity: Vector | None = None,
        fluid: Fluid | None = None,
        falloff: Number | None = None,
    ) -> None:
        """Add smoke, heat or motion in `shape` once, in the next frame: a line, a curve, a drop of ink.

        density, color: added there altogether, not per second. temperature, velocity: set there. falloff:
        metres outside the shape over which it fades; None: one cell. fluid: of this scene; None: the first.
        Raises GpufluidError naming the value.
        """
        target = self.fluid if fluid is None else fluid
        if target not in self.fluids:
            raise GpufluidError(f"fluid must be one of Scene.fluids, got {fluid!r}")
        rate = 1.0 / self.dt if self.dt else 0.0
        dye = None if color is None else tuple(rate * c for c in radiance(color, "color"))
        smoke = rate * finite_number(density, "density", low=0.0)
        emitter = Emitter(shape, smoke, temperature, velocity, falloff, color=dye)
        self._strokes.append((target, target.emitters.add(emitter)))

    def stroke(self, start: Vector, end: Vector, hand: Hand | None = None) -> None:
        """Move a hand through the fluid from `start` to `end` (x, y, z), metres, in the next frame.

        hand: None is the scene's own, or `Hand()`. With several fluids it acts on the one whose box `end`
        lies in, else on the first. Raises GpufluidError for places that are not finite and a hand that cannot
        be.
        """
        hand = self.hand or Hand() if hand is None else hand
        if not isinstance(hand, Hand):
            raise GpufluidError(f"hand must be a gf.Hand or None, got {hand!r}")
        hand.check()
        start, end = finite_triple(start, "start"), finite_triple(end, "end")
        inside = (f for f in self.fluids if all(map(_between, f.grid.origin, end, f.grid.upper)))
        fluid = next(inside, self.fluid)
        reach = hand.reach or REACH * max(fluid.grid.size)
        length = math.dist(start, end)
        shape = Capsule(start, end, reach) if length > 1e-4 * reach else Sphere(end, reach)
        u = v = w = 0.0
        if length > 0.0 and self.dt > 0.0:
            speed = min(hand.push * length / self.dt, FASTEST * max(fluid.grid.size))
            u, v, w = (speed / length * (b - a) for a, b in zip(start, end, strict=True))
        r, g, b = (0.0, 0.0, 0.0) if hand.color is None else (c * self.dt for c in hand.color)
        self.draw(
            shape,
            hand.density * self.dt,
            color=None if hand.color is None else (r, g, b),
            temperature=hand.temperature,
            velocity=(u, v, w) if u or v or w else None,
            fluid=fluid,
            falloff=SOFT * reach,
        )

    def save_frame(self, path: str | os.PathLike[str]) -> None:
        """Save a picture (.png) of the next frame once it is drawn; an existing file is replaced.

        `gf.run` and windows write it. A loop of yours has a renderer: ``gf.write_picture(path, renderer)``.

        If the story ends before another frame, the picture is of the scene as it is then. Raises
        GpufluidError for another ending, and for what is no name of a file.
        """
        target = named_file(path)
        if target.suffix.lower() != ".png":
            raise GpufluidError(f"{target}: the name of a frame's picture must end in .png")
        self._snaps.append(target)

    def take_snaps(self) -> list[Path]:
        """Return the pictures asked for, to whoever draws them, and forget them."""
        snaps, self._snaps = self._snaps, []
        return snaps

    def stop(self) -> None:
        """End the scene before its next frame."""
        self._over = True

    def release(self) -> None:
        """Release the views and the fluids."""
        release(self.live)
        self.live = None
        if self.story is not None and hasattr(self.story, "close"):
            self.story.close()
        for fluid in reversed(self.fluids):  # the first may own the context of all
            fluid.release()


class _Waiting:
    """The frames that `Scene.wait` asks for, which somebody has to take: a forgotten `yield from` is told."""

    def __init__(self, seconds: Number, frames: Story) -> None:
        self._seconds, self._frames, self._taken = seconds, frames, False

    def __iter__(self) -> Story:
        self._taken = True
        return self._frames

    def __next__(self) -> Any:
        return next(iter(self))

    def __del__(self) -> None:
        if not self._taken:
            message = f"wait({self._seconds}) has let no time pass: write `yield from scene.wait(...)`"
            warn(message, RuntimeWarning)


def scene_suffix(path: str | os.PathLike[str]) -> str:
    """ ".toml" or ".py", as what the scene in `path` is read. Raises GpufluidError for any other name."""
    name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else repr(path)
    suffix = Path(name).suffix.lower()
    if suffix in SUFFIXES and "\0" not in name:
        return suffix
    # Path.is_file raises for a name that is too long
    beside = [name + ending for ending in SUFFIXES if name and os.path.isfile(name + ending)]  # noqa: PTH113
    hint = f"; did you mean {beside[0]!r}?" if beside else ""
    raise GpufluidError(f"{name or repr(name)}: a scene is a .toml or a .py file{hint}")


def direction_of_view(flat: bool) -> tuple[float, float]:
    """Azimuth and elevation of a camera that nobody has placed, degrees; flat: before a slice."""
    return (0.0, 0.0) if flat else (AZIMUTH, ELEVATION)


def check_name(name: str, taken: Iterable[str]) -> None:
    """Raise GpufluidError where no part of a scene can be called `name`, or one is already.

    It is looked up by it in `Scene.names`, and in ``--set emitters.source.density=4``, where what has no name
    goes by its number.
    """
    if not isinstance(name, str):
        raise GpufluidError(f"a name must be text, got {name!r}")
    if not name.strip():
        raise GpufluidError("a name must not be empty")
    if name != name.strip() or not name.isprintable():
        raise GpufluidError(f"a name must be one line without blanks at its ends, got {name!r}")
    for sign in NOT_IN_NAMES:
        if sign in name:
            raise GpufluidError(f"a name must be without {sign!r}, which --set reads otherwise, got {name!r}")
    if name.isdigit():
        raise GpufluidError(f"a name must not be a number, by which --set counts, got {name!r}")
    if name in taken:
        raise GpufluidError(f"{name!r} is taken already")


def box_names(fluids: Sequence[Fluid], names: Mapping[str, Any]) -> tuple[str, ...]:
    """What the boxes of `fluids` are called where `names` are given; see `Scene.box_names`."""
    given = {id(thing): name for name, thing in names.items()}
    return tuple(given.get(id(fluid), f"box {n}") for n, fluid in enumerate(fluids, 1))


def _check_cells(cells: Cells | Sequence[Cells | None] | None) -> None:
    """Raise GpufluidError where `cells` are neither those of one grid nor, as `Scene.load` says, of each."""

    def whole(given: Any) -> bool:
        return isinstance(given, Sequence) and [isinstance(n, Integral) for n in given] == [True] * 3

    if cells is None or whole(cells):
        return
    if not isinstance(cells, Sequence) or not all(given is None or whole(given) for given in cells):
        raise GpufluidError(
            "Scene.load cells must be three whole numbers (x, y, z), or a list of such, or None, for each "
            f"grid, got {cells!r}"
        )


def _between(low: float, value: float, high: float) -> bool:
    return low <= value <= high
