"""Bad input is refused: every public class names what, where and the limit, and a fluid stays as it was."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import moderngl
import numpy as np
import pytest
from sharing import CELLS, EVERYWHERE

import gpufluid as gf
from gpufluid.description.keyframes import Keys

pytestmark = pytest.mark.usefixtures("one_context")

NAN, INF = math.nan, math.inf
BALL = gf.Sphere(radius=0.2)

# What a parameter of each sort must not be.
NUMBER: list[Any] = [NAN, INF, -INF, "x", "1", [1.0], True, 1e39]
MAYBE_NUMBER = NUMBER
AT_LEAST_0 = [*NUMBER, -1e-9, None]
RATE = [NAN, INF, "x", "1", True, None, -1e-9]
ABOVE_0 = [*AT_LEAST_0, 0.0]
TRIPLE: list[Any] = [(1, 2), (1, 2, 3, 4), (NAN, 0, 0), (0, 0, INF), ("a", 0, 0), "123", 1.0, (0, 1e39, 0)]
SIZES = [*TRIPLE, (1, 0, 1), (1, 1, -1)]
DIRECTION = [*TRIPLE, (0, 0, 0)]
COUNT: list[Any] = [-1, 2.5, "3", None, True, NAN]
FLAG: list[Any] = ["yes", 1, None]
ROTATION: list[Any] = [(0, 0, 0), (0, 0, 0, 0), np.eye(3) * 2, (NAN, 0, 0, 1), "x", np.diag([1, 1, -1])]
SHARE = [*AT_LEAST_0, 1.5]
TOLERANCE = [*NUMBER, 0.0, -1.0, 1.0]
NAMES: list[Any] = ["x", 3, ["no"], np.zeros(2)]

PLACE = {"position": TRIPLE, "rotation": ROTATION}
CASES: dict[str, tuple[dict[str, Any], dict[str, list[Any]]]] = {
    "Grid": (
        {"cells": (4, 4, 4)},
        {
            "cells": [4, None, "abc", (4, 4), (0, 4, 4), (4, -1, 4), (4, 4, 2.5), (True, 4, 4), (4, NAN, 4)],
            "cell_size": [*ABOVE_0, 1e-320],
            "origin": TRIPLE,
        },
    ),
    "Wall": ({}, {"slip": [*NAMES, None], "velocity": TRIPLE, "temperature": MAYBE_NUMBER}),
    "Inflow": (
        {"velocity": (1, 0, 0)},
        {"velocity": TRIPLE, "density": AT_LEAST_0, "temperature": MAYBE_NUMBER},
    ),
    "Boundaries": (
        {},
        {
            name: ["open", gf.Open, None, 3, gf.Periodic(), gf.Wall(velocity=velocity)]
            for name, velocity in (
                ("left", (1, 0, 0)),
                ("right", (1, 0, 0)),
                ("bottom", (0, 1, 0)),
                ("top", (0, 1, 0)),
                ("back", (0, 0, 1)),
                ("front", (0, 0, 1)),
            )
        },
    ),
    "Settings": (
        {},
        {
            **{n: [*NAMES, None] for n in ("advection", "trace", "sampler", "precision")},
            **dict.fromkeys(("velocity_advection", "limiter"), NAMES),
            **dict.fromkeys(("viscosity", "thermal_diffusivity"), RATE),
            **dict.fromkeys(("density_diffusivity", "vorticity_confinement"), RATE),
            **dict.fromkeys(("density_dissipation", "cooling"), RATE),
            **dict.fromkeys(("buoyancy", "weight", "ambient_temperature"), NUMBER),
            **dict.fromkeys(("reflection", "warm_start", "solve_velocity", "coarse_velocity"), FLAG),
            "cfl": [*NUMBER, 0.0, -1.0],
            "max_substeps": [*COUNT, 0],
            "pressure": [gf.Jacobi, "jacobi", None, 40],
            "up": TRIPLE,
        },
    ),
    "Jacobi": ({}, {"iterations": COUNT, "weight": [*ABOVE_0, 2.0], "tolerance": TOLERANCE}),
    "ChebyshevJacobi": ({}, {"iterations": COUNT, "tolerance": TOLERANCE}),
    "RedBlackSOR": ({}, {"iterations": COUNT, "omega": [*ABOVE_0, 2.0], "tolerance": TOLERANCE}),
    "ConjugateGradient": (
        {},
        {"iterations": COUNT, "tolerance": TOLERANCE, "preconditioner": ["multigird", 3, None]},
    ),
    "Multigrid": ({}, {"cycles": COUNT, "sweeps": [*COUNT, 0], "tolerance": TOLERANCE}),
    "Sphere": ({}, {"center": TRIPLE, "radius": ABOVE_0}),
    "Box": ({}, {"center": TRIPLE, "size": SIZES}),
    "Cylinder": ({}, {"center": TRIPLE, "radius": ABOVE_0, "height": ABOVE_0}),
    "Capsule": ({}, {"start": TRIPLE, "end": [*TRIPLE, (0.0, -0.5, 0.0)], "radius": ABOVE_0}),
    "Plane": ({}, {"point": TRIPLE, "normal": DIRECTION}),
    "Line": (
        {"points": [(0, 0, 0), (1, 0, 0)]},
        {"points": [[(0, 0, 0)], "x", 3, [(0, 0)] * 2], "radius": ABOVE_0},
    ),
    "Bezier": (
        {"points": [(0, 0, 0)] * 4},
        {"points": [[(0, 0, NAN)] * 4, [(0, 0, 0)] * 5], "radius": ABOVE_0},
    ),
    "Surface": ({"mesh": gf.Mesh.box()}, {"mesh": [BALL, None], "thickness": [*NUMBER, 0.0]}),
    "Image": (
        {"source": np.ones((2, 2))},
        {
            "source": [
                np.full((2, 2), NAN),
                np.full((2, 2), 7),
                [[1], [1, 2]],
                [["a"]],
                None,
                np.ones((2, 2, 5)),
            ],
            "center": TRIPLE,
            "size": [(1,), 1, (1, 0), (NAN, 1)],
            "thickness": [*NUMBER, 0.0],
        },
    ),
    "Array": (
        {"values": np.ones((4, 4, 4))},
        {"values": [np.full((4, 4, 4), NAN), np.full((4, 4, 4), 2), "x", []]},
    ),
    "Emitter": (
        {"shape": BALL},
        {
            **PLACE,
            "shape": ["sphere", None, gf.Sphere],
            "density": AT_LEAST_0,
            "fuel": AT_LEAST_0,
            "temperature": MAYBE_NUMBER,
            "velocity": TRIPLE,
            "falloff": [*NUMBER, 0.0],
            "active": FLAG,
            "edge": [*NAMES, None],
            "noise": SHARE,
            "noise_size": [*NUMBER, 0.0],
            "noise_time": ABOVE_0,
            "seed": [*COUNT, 1 << 24],
        },
    ),
    "Obstacle": (
        {"shape": BALL},
        {
            **PLACE,
            "shape": ["sphere", None, gf.Line([(0, 0, 0), (1, 0, 0)])],
            "scale": [*ABOVE_0[:5], 0.0, -1.0, (1, 2), (1, 0, 1)],
            "velocity": TRIPLE,
            "spin": TRIPLE,
            "temperature": MAYBE_NUMBER,
            "heating": AT_LEAST_0,
            "slip": [*NAMES, None],
            "gloss": SHARE,
            "emission": [*TRIPLE, (0, -1e-9, 0), None],
        },
    ),
    "Wind": ({"velocity": (1, 0, 0)}, {"velocity": TRIPLE, "rate": AT_LEAST_0, "active": FLAG}),
    "Vortex": (
        {"center": (0, 0, 0)},
        {"center": TRIPLE, "axis": DIRECTION, "strength": NUMBER, "radius": ABOVE_0, "active": FLAG},
    ),
    "Attractor": (
        {"center": (0, 0, 0)},
        {"center": TRIPLE, "strength": NUMBER, "radius": ABOVE_0, "active": FLAG},
    ),
    "Turbulence": (
        {},
        {"strength": NUMBER, "size": ABOVE_0, "time": ABOVE_0, "seed": [*COUNT, 1 << 24], "active": FLAG},
    ),
    "ForceField": (
        {"values": np.zeros((4, 4, 4, 3))},
        {
            "values": [np.full((4, 4, 4, 3), NAN), np.zeros((4, 4, 4)), "x"],
            "strength": NUMBER,
            "active": FLAG,
        },
    ),
    "ForceExpression": (
        {"expression": "vec3(0)"},
        {"expression": ["", "a; b", 3, None, "#define x"], "numpy": [3, "x"], "active": FLAG},
    ),
    "Camera": (
        {},
        {
            "target": TRIPLE,
            "distance": ABOVE_0,
            "azimuth": NUMBER,
            "elevation": [*NUMBER, 90.0],
            "fov": [*NUMBER, 0.0, 180.0],
            "near": ABOVE_0,
            "far": [*NUMBER, 0.001],
        },
    ),
    "Light": ({}, {"direction": DIRECTION, "color": [*TRIPLE, (-1, 0, 0)], "ambient": [*TRIPLE, (0, 0, -1)]}),
    "SpotLight": (
        {"position": (0, 1, 0)},
        {
            "direction": DIRECTION,
            "angle": [*NUMBER, 0.5, 171, -40],
            "softness": [*NUMBER, 1.1, -0.1],
            "radius": ABOVE_0,
        },
    ),
    "Smoke": ({}, {"extinction": AT_LEAST_0, "albedo": [*TRIPLE, (2, 0, 0)], "anisotropy": [*NUMBER, 0.99]}),
    "Fluid": (
        {"grid": gf.Grid((4, 4, 4)), "backend": "numpy"},
        {
            "grid": [(4, 4, 4), None],
            "boundaries": [gf.Open(), "open", 0],
            "settings": [{"viscosity": 1.0}, gf.Settings, 0],
            "backend": ["gpu", None, ["numpy"]],
            "ctx": [3, "egl"],
        },
    ),
}
EACH = [(cls, name) for cls, (_, bad) in CASES.items() for name in bad]


@pytest.mark.parametrize(("cls", "name"), EACH, ids=[f"{c}.{n}" for c, n in EACH])
def test_a_bad_value_is_refused_and_named(cls: str, name: str) -> None:
    good, bad = CASES[cls]
    make = getattr(gf, cls)
    make(**good)
    for value in bad[name]:
        with pytest.raises(gf.GpufluidError) as error:
            make(**{**good, name: value})
        says = str(error.value)
        assert name in says, (value, says)
        assert cls in says, (value, says)


@pytest.mark.parametrize("cls", [c for c in CASES if CASES[c][1]])
def test_a_misspelt_keyword_is_named_with_the_right_one(cls: str) -> None:
    good, bad = CASES[cls]
    for name in bad:
        misspelt = name[0] + name[2:] if len(name) > 3 else name + "s"
        if misspelt in bad:
            continue
        with pytest.raises(gf.GpufluidError, match=rf"gf.{cls} has no parameter '{misspelt}'; did you mean"):
            getattr(gf, cls)(**{**good, misspelt: 1})
    with pytest.raises(
        TypeError, match=r"gf.Settings has no parameter 'viscosty'; did you mean 'viscosity'\?"
    ):
        gf.Settings().but(viscosty=1.0)


def test_a_keyword_that_is_a_property_is_told_so() -> None:
    with pytest.raises(
        gf.GpufluidError, match=r"^gf.Camera has no parameter 'eye': it is set .* camera.eye = "
    ):
        gf.Camera(eye=(1, 2, 3))  # type: ignore[call-arg]


def test_a_keyword_like_none_is_told_all_there_are() -> None:
    """Half of its letters make no misspelt name of it: an axis is no radius."""
    with pytest.raises(
        TypeError, match=r"gf.Cylinder has no parameter 'axis'; it has center, radius, height$"
    ):
        gf.Cylinder(axis="z")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("make", "misspelt", "right"),
    [
        (lambda: gf.Emitter(gf.Sphere()), "densty", "density"),
        (lambda: gf.Emitter(gf.Sphere()), "colour", "color"),
        (lambda: gf.Obstacle(gf.Sphere()), "postion", "position"),
        (lambda: gf.Obstacle(gf.Sphere()), "pos", "position"),
        (gf.Camera, "elevaton", "elevation"),
        (gf.Smoke, "extiction", "extinction"),
        (lambda: gf.Wind((1.0, 0.0, 0.0)), "velocty", "velocity"),
        (lambda: gf.Fluid(gf.Grid((4, 4, 4)), backend="numpy"), "setings", "settings"),
    ],
)
def test_a_misspelt_field_is_not_kept_beside_the_right_one(
    make: Callable[[], Any], misspelt: str, right: str
) -> None:
    """It changed nothing, and nothing said so."""
    thing = make()
    with pytest.raises(gf.GpufluidError, match=rf"has no '{misspelt}'; did you mean '{right}'\?"):
        setattr(thing, misspelt, 1.0)
    assert misspelt not in vars(thing)
    thing.owner = thing._densty = "a program's own"
    setattr(thing, right + "_before", 3)
    assert thing.owner == thing._densty and getattr(thing, right + "_before") == 3
    for before in ("old_", "my_", "is_"):
        setattr(thing, before + right, 4)
        assert getattr(thing, before + right) == 4


def test_a_misspelt_name_of_the_package_is_told_with_the_right_one() -> None:
    with pytest.raises(AttributeError) as error:
        _ = gf.Fliud
    assert (error.value.name, error.value.obj) == (
        "Fliud",
        gf,
    )  # from which Python tells "Did you mean: 'Fluid'?"


def test_a_program_may_add_fields_to_a_class_of_its_own() -> None:
    class Torch(gf.Emitter):
        def __init__(self) -> None:
            super().__init__(gf.Sphere())
            self.densities = [1.0, 2.0]

    assert Torch().densities == [1.0, 2.0]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: gf.Wall("fre"), r"Wall.slip must be one of 'no', 'free', got 'fre'; did you mean 'free'\?"),
        (lambda: gf.Boundaries(left="open"), r"Boundaries.left .* got 'open'; did you mean 'gf.Open\(\)'\?"),  # type: ignore[arg-type]
        (lambda: gf.Boundaries(top=gf.Inflow), r"Boundaries.top .*did you mean 'gf.Inflow\(\)'\?"),  # type: ignore[arg-type]
        (lambda: gf.Boundaries(back=gf.Periodic()), r"Boundaries.back and .front must both be gf.Periodic"),
        (
            lambda: gf.Boundaries(lft=gf.Open()),
            r"gf.Boundaries has no parameter 'lft'; did you mean 'left'\?",
        ),  # type: ignore[call-arg]
        (
            lambda: gf.Settings(viscosity=-1e-5),
            r"Settings.viscosity must be a finite number >= 0, got -1e-05",
        ),
        (
            lambda: gf.ConjugateGradient(preconditioner="multigird"),
            r"ConjugateGradient.preconditioner .*; did you mean 'multigrid'\?",
        ),
        (lambda: gf.Sphere(radius=1e39), r"Sphere.radius must be at most 3.4e\+38 in size, got 1e\+39"),
    ],
)
def test_what_the_message_says(make: Callable[[], object], says: str) -> None:
    with pytest.raises(gf.GpufluidError, match=says):
        make()


BALL = gf.Sphere((0.5, 0.5, 0.5), 0.2)
VIEWS: list[tuple[Any, tuple[Any, ...], str, str]] = [
    (gf.Particles, (10, [BALL]), "streek", "streak"),
    (gf.Streamlines, ([(0.5, 0.5, 0.5)],), "line_with", "line_width"),
    (gf.StreakLines, ([(0.5, 0.5, 0.5)],), "interwal", "interval"),
    (gf.Glyphs, (), "spaceing", "spacing"),
    (gf.SlicePlane, (), "contour", "contours"),
    (gf.IsoSurface, ("density", 0.5), "smoth", "smooth"),
    (gf.VoxelView, (), "surface_colour", "surface_color"),
    (gf.FlatTextureView, (), "colour", "colors"),
    (gf.HistogramView, (), "bin", "bins"),
]


@pytest.mark.parametrize(("cls", "given", "misspelt", "right"), VIEWS, ids=[v[0].__name__ for v in VIEWS])
def test_misspelt_names_of_views_are_told(
    ctx: moderngl.Context, cls: Any, given: tuple[Any, ...], misspelt: str, right: str
) -> None:
    words = rf"gf.{cls.__name__} has no parameter '{misspelt}'; did you mean '{right}'"
    with pytest.raises(TypeError, match=words):
        cls(ctx, *given, **{misspelt: 1})
    with cls(ctx, *given) as view, pytest.raises(gf.GpufluidError, match=f"has no '{misspelt}'.*'{right}'"):
        setattr(view, misspelt, 1)


def test_misspelt_names_of_particle_sources_are_told() -> None:
    with pytest.raises(TypeError, match=r"gf.ParticleSource has no parameter 'colour'; did you mean 'color'"):
        gf.ParticleSource(BALL, colour=(1.0, 0.0, 0.0))  # type: ignore[call-arg]
    with pytest.raises(gf.GpufluidError, match="has no 'spred'.*'spread'"):
        gf.ParticleSource(BALL).spred = 1.0  # type: ignore[attr-defined]


def test_what_is_assigned_to_the_wrong_thing_is_told(ctx: moderngl.Context) -> None:
    """It would be kept, and change nothing."""
    renderers: list[Any] = [gf.VolumeRenderer(ctx), gf.FrameRenderer(ctx, (8, 8))]
    with gf.Fluid(FLAT, backend="numpy") as fluid:
        things: list[Any] = [fluid, fluid, *renderers]
        for thing, name, says in zip(
            things,
            ("buoyancy", "setings", "reslution", "bacground"),
            (r"settings.but\(buoyancy=3\)", "'settings'", "'resolution'", "'background'"),
            strict=True,
        ):
            with pytest.raises(gf.GpufluidError, match=f"has no {name!r}.*{says}"):
                setattr(thing, name, 3)
            assert not hasattr(thing, name)
            thing.mine = 3  # a program's own
    with pytest.raises(
        gf.GpufluidError, match=r"must be a gf.Scene, as gf.Scene\(fluid\), got <gf.Fluid, released>"
    ):
        renderers[1].draw(fluid)
    for renderer in renderers:
        renderer.release()
    with pytest.raises(gf.GpufluidError, match="no parameter 'methd'; did you mean 'method'?"):
        gf.VolumeRenderer(ctx, methd="ray-march")  # type: ignore[call-arg]


FLAT = gf.Grid((4, 4, 1), 0.25)


@pytest.mark.parametrize(
    ("slip", "says"),
    [
        (lambda f: gf.VolumeRenderer(f.ctx), 'ctx must be a moderngl.Context, got None.*backend="numpy"'),
        (lambda f: gf.FrameRenderer(f.ctx, (8, 8)), "ctx must be a moderngl.Context, got None"),
        (lambda f: gf.keep_state(f.ctx), "ctx must be a moderngl.Context, got None"),
        (
            lambda f: gf.ParticlesView(sources=gf.ParticleSource(gf.Sphere())),  # type: ignore[arg-type]
            "ParticlesView.sources must be a list or a tuple, got ParticleSource",
        ),
        (
            lambda f: gf.Scene(f, others=f),
            "Scene.others must be a list or a tuple, got <gf.Fluid of",
        ),
        (lambda f: gf.Scene(f, others=[3]), r"Scene.others\[0\] must be a gf.Fluid, got 3"),
        (lambda f: gf.Scene(f, views=gf.SliceView()), "Scene.views must be a list or a tuple, got SliceView"),
        (
            lambda f: gf.Scene(f, update="x"),
            r"Scene.update must be a function \(scene, time\) or None, got 'x'",
        ),
        (lambda f: gf.Scene(f, story=3), "Scene.story must be a generator or None, got 3"),
        (lambda f: gf.Scene(f, title=3), "Scene.title must be text, got 3"),
        (lambda f: gf.Scene(f, names=["a"]), r"Scene.names must be a dict of parts by .*, got \['a'\]"),
        (lambda f: gf.Scene.load(None), "None: a scene is a .toml or a .py file"),
        (lambda f: gf.run(lambda: gf.Scene(f), fps="x"), "fps must be a number, got 'x'"),
        (lambda f: gf.run(lambda: gf.Scene(f), fps=0), "fps must be a finite number > 0, got 0"),
        (lambda f: gf.run(lambda: gf.Scene(f), out=3), "a path must be a file name, got 3"),
        (lambda f: gf.run(lambda: gf.Scene(f), still=3), "a path must be a file name, got 3"),
        (lambda f: gf.run(lambda: gf.Scene(f), out="-"), '"-" is no file name: nothing goes to stan'),
        (lambda f: gf.Film("a.mp4", 64), r"a film's size must be two numbers \(width, height\), got 64"),  # type: ignore[arg-type]
        (lambda f: gf.Film("a.mp4", (64.5, 64)), "a film's width and height must be .* >= 1, got 64.5"),  # type: ignore[arg-type]
        (
            lambda f: f.forces.add(np.zeros((9, 9, 9, 3))),
            r"^expected .*gf.ForceExpression, got array.{0,700}$",
        ),
        (lambda f: f.diagnostics()["max_sped"], "did you mean 'max_speed'"),
        (lambda f: gf.Film(None, (64, 48)), "a path must be a file name, got None"),  # type: ignore[arg-type]
        (lambda f: gf.FrameFolder(3), "a path must be a file name, got 3"),  # type: ignore[arg-type]
        (lambda f: gf.write_volume("a.npz", None), "fluid must be a gf.Fluid, got None"),
        (
            lambda f: gf.write_picture("a.png", None),
            "renderer must be a gf.FrameRenderer, a framebuffer or an array, got None",
        ),
        (
            lambda f: gf.Scene.load("a.toml", changes="dt=1"),
            "Scene.load changes must be a list or a tuple, got 'dt=1'",
        ),
        (
            lambda f: gf.Scene.load("a.toml", changes=["dt=1", 5]),  # type: ignore[list-item]
            r"^Scene.load changes\[1\] must be text, as in .*, got 5",
        ),
        (
            lambda f: gf.Scene.load("a.toml", changes={"dt": 1}),
            "Scene.load changes must be a list or a tuple",
        ),  # type: ignore[arg-type]
        (lambda f: gf.Scene.load("a.toml", cells=(8, 12)), r"three whole numbers .*, got \(8, 12\)"),  # type: ignore[arg-type]
        (lambda f: gf.Scene.load("a.toml", cells=[None, 3]), r"three whole numbers .*, got \[None, 3\]"),  # type: ignore[list-item]
        (lambda f: gf.Scene.load("a.toml", cells=8), "three whole numbers .*, got 8"),  # type: ignore[arg-type]
        (lambda f: f.take("density"), "names must be a list or a tuple, got 'density'"),
        (lambda f: gf.Grid((4, 4, 4), 1e19), r"Grid.cell_size must be at most 1e\+18 in size, got 1e\+19"),
        (lambda f: gf.Scene.load("a\0.toml"), r"a scene is a \.toml or a \.py file"),
        (lambda f: gf.Scene.load("a" * 300 + ".toml"), "a.toml: cannot be read: "),
        (lambda f: gf.Scene.load("a" * 300 + ".py"), "a.py: (cannot be read|there is no such file)"),
        (lambda f: gf.Scene.load("a" * 300), r"a scene is a \.toml or a \.py file"),
        (lambda f: gf.Scene(f).save_frame(None), "a path must be a file name, got None"),
        (lambda f: gf.Scene(f).rename(f, 7), "a name must be text, got 7"),
        (lambda f: gf.Scene(f, frame=3).resume("a"), "a scene not played yet, this has had frame 3$"),
        (lambda f: gf.Scene(f).draw(BALL, color=5), r"^color must be three numbers \(r, g, b\), got 5"),  # type: ignore[arg-type]
        (lambda f: gf.Scene(f).draw(BALL, "x"), "^density must be a number, got 'x'"),  # type: ignore[arg-type]
        (lambda f: gf.Scene(f).draw(BALL, fluid="x"), "^fluid must be one of Scene.fluids, got 'x'"),  # type: ignore[arg-type]
        (lambda f: gf.Scene(f).stroke((0, 0, 0), (0, 0, 1), 3), "^hand must be a gf.Hand or None, got 3"),  # type: ignore[arg-type]
        (lambda f: gf.Scene(f).draw(BALL, -2.0), "^density must be a finite number >= 0, got -2.0"),
        (
            lambda f: setattr(f.settings, "buoyancy", 2.0),
            r"Settings.buoyancy cannot be set: put another gf.Settings in its place, made by .but\(buoyancy=",
        ),
        (
            lambda f: gf.Fluid(FLAT, gf.Open()),  # type: ignore[arg-type]
            r"must be a gf.Boundaries, got Open\(\); did you mean gf.Boundaries.all\(gf.Open\(\)\)\?",
        ),
        (lambda f: gf.Fluid(FLAT, f.settings), r"must be a gf.Boundaries, got .*; did you mean settings=\?"),
        (lambda f: setattr(f, "boundaries", gf.Periodic()), r"did you mean gf.Boundaries.all\(gf.Periodic"),
        (lambda f: setattr(BALL, "radius", 0.3), "Sphere.radius cannot be set: put another gf.Sphere in its"),
        (lambda f: setattr(f.settings.pressure, "iterations", 9), "Jacobi.iterations cannot be set"),
        (lambda f: f.follow((0, 0, 0), [[1, 2, 3], [4]]), r"dead_zone must be three finite numbers .*\[4\]"),
        (
            lambda f: gf.ConjugateGradient(preconditioner=np.zeros(2)),
            "ConjugateGradient.preconditioner must be one of 'multigrid', 'gauss-seidel', got array",
        ),
    ],
)
def test_slips_are_told(slip: Callable[[Any], object], says: str) -> None:
    """What is easily given in place of what is meant."""
    with gf.Fluid(FLAT, backend="numpy") as fluid, pytest.raises(gf.GpufluidError, match=says):
        slip(fluid)


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("velocity", "up", "must be three finite numbers"),
        ("velocity", (0.0, math.nan, 0.0), "must be three finite numbers"),
        ("spin", 3.0, "must be three (finite )?numbers"),
        ("shape", None, "must be a Sphere"),
        ("temperature", "hot", "must be a number"),
        ("temperature", np.zeros(2), "must be a number"),
        ("heating", math.nan, "must be a finite number"),
        ("slip", np.zeros(2), "must be one of"),
    ],
)
def test_an_obstacle_changed_for_the_worse_is_named_by_whatever_asks_for_it(
    field: str, value: Any, says: str
) -> None:
    with gf.Fluid(gf.Grid(CELLS, 0.1), backend="numpy") as fluid:
        ball = fluid.obstacles.add(gf.Obstacle(BALL))
        fluid.step(0.01)
        before, good = fluid.density.read(), getattr(ball, field)
        setattr(ball, field, value)
        for ask in (
            lambda: fluid.sample([(0.5, 0.5, 0.5)]),
            fluid.solid.read,
            fluid.diagnostics,
            fluid.project,
            fluid.reset,
        ):
            with pytest.raises(gf.GpufluidError, match=f"Obstacle.{field} {says}"):
                ask()
        setattr(ball, field, good)
        assert fluid.time > 0.0 and np.array_equal(fluid.density.read(), before)
        fluid.step(0.01)


# A fluid stays as it was, bit for bit


def busy(backend: str) -> gf.Fluid:
    """A small fluid with something of everything, already moving."""
    fluid = gf.Fluid(gf.Grid(CELLS, 0.1), settings=gf.Settings(viscosity=1e-3), backend=backend)
    fluid.emitters.add(gf.Emitter(gf.Sphere((0.4, 0.2, 0.3), 0.15), density=2.0, temperature=3.0, fuel=1.0))
    fluid.obstacles.add(gf.Obstacle(gf.Sphere(radius=0.15), (0.5, 0.5, 0.3), slip="free", temperature=2.0))
    fluid.forces.add(gf.Wind((0.3, 0.0, 0.0)))
    fluid.forces.add(gf.ForceField(np.ones((*CELLS[::-1], 3))))
    fluid.forces.add(
        gf.ForceExpression(
            "vec3(0, time, 0)", lambda p, t: np.stack([0 * p[..., 0], 0 * p[..., 0] + t, 0 * p[..., 0]], -1)
        )
    )
    for _ in range(2):
        fluid.step(0.05)
    return fluid


def everything(fluid: gf.Fluid) -> dict[str, np.ndarray]:
    names = ("velocity", "density", "temperature", "fuel", "pressure", "divergence", "solid")
    out = {name: getattr(fluid, name).read() for name in names}
    solver = fluid._solver
    out |= {"scalars": solver.scalars.read(), "faces": solver.velocity.read(), "time": np.array(fluid.time)}
    return out


def change(thing: Any, name: str, value: Any) -> Callable[[gf.Fluid], None]:
    """A step after a field of something in the fluid has been set to a bad value."""

    def act(fluid: gf.Fluid) -> None:
        before = getattr(thing(fluid), name)
        setattr(thing(fluid), name, value)
        try:
            fluid.step(0.05)
        finally:
            setattr(thing(fluid), name, before)  # or the solids could not be read

    return act


def with_force(function: Any) -> Callable[[gf.Fluid], None]:
    """A step with a NumPy force that goes wrong only then; GL takes no function, and is given a bad wind."""

    def act(fluid: gf.Fluid) -> None:
        if fluid.backend_name == "numpy":
            fluid.forces.add(gf.ForceExpression("vec3(0)", function))
        else:
            fluid.forces[0].velocity = (NAN, 0.0, 0.0)  # type: ignore[union-attr]
        fluid.step(0.05)

    return act


def emitter(fluid: gf.Fluid) -> Any:
    return fluid.emitters[0]


def obstacle(fluid: gf.Fluid) -> Any:
    return fluid.obstacles[0]


def hole(shape: tuple[int, ...], value: float) -> np.ndarray:
    values = np.zeros(shape)
    values[tuple(n // 2 for n in shape)] = value
    return values


BAD_ACTS: dict[str, tuple[Callable[[gf.Fluid], None], str]] = {
    "dt": (lambda fluid: fluid.step(NAN), "dt must be a finite number"),
    "density": (
        lambda fluid: fluid.density.write(hole(CELLS[::-1], NAN)),
        r"density must be finite, got nan at",
    ),
    "temperature": (
        lambda fluid: fluid.temperature.write(hole(CELLS[::-1], INF)),
        "temperature must be finite",
    ),
    "fuel": (lambda fluid: fluid.fuel.write(hole(CELLS[::-1], -INF)), "fuel must be finite"),
    "pressure": (lambda fluid: fluid.pressure.write(hole(CELLS[::-1], 1e39)), "pressure must be finite"),
    "velocity": (
        lambda fluid: fluid.velocity.write(hole((9, 13, 11, 3), NAN)),
        r"velocity must be finite, got nan",
    ),
    "complex": (
        lambda fluid: fluid.density.write(np.full(CELLS[::-1], 1j)),
        "density must be an array of numbers",
    ),
    "shape": (
        lambda fluid: fluid.velocity.write(np.zeros((*CELLS[::-1], 3))),
        r"velocity must have the shape \(9",
    ),
    "array": (
        lambda fluid: fluid.emitters.add(gf.Emitter(gf.Array(hole(CELLS[::-1], NAN)))),  # type: ignore[func-returns-value]
        "Array.values must be in 0 .. 1, got nan",
    ),
    "array of another grid": (
        change(emitter, "shape", gf.Array(np.ones((2, 2, 2)))),
        "Emitter.shape: an Array",
    ),
    "new source, of another grid": (
        lambda fluid: fluid.emitters.add(gf.Emitter(gf.Array(np.ones((2, 2, 2))))),  # type: ignore[func-returns-value]
        "Emitter.shape: an Array must have the shape",
    ),
    "new force field, of another grid": (
        lambda fluid: fluid.forces.add(gf.ForceField(np.zeros((8, 6, 9, 3)))),  # type: ignore[func-returns-value]
        r"ForceField.values must have the shape \(8, 12, 10, 3\)",
    ),
    "source": (change(emitter, "density", NAN), "Emitter.density must be a finite number"),
    "source velocity": (change(emitter, "velocity", (0, INF, 0)), "Emitter.velocity must be three finite"),
    "source place": (change(emitter, "position", (0, 0)), "Emitter.position must be three finite"),
    "solid place": (change(obstacle, "position", (NAN, 0, 0)), "Obstacle.position must be three finite"),
    "solid slip": (change(obstacle, "slip", "fee"), "Obstacle.slip must be one of"),
    "solid heat": (change(obstacle, "temperature", NAN), "Obstacle.temperature must be a finite"),
    "wind": (change(lambda f: f.forces[0], "velocity", (NAN, 0, 0)), "Wind.velocity must be three finite"),
    "force field": (
        change(lambda f: f.forces[1], "values", hole((*CELLS[::-1], 3), NAN)),
        r"ForceField.values must be finite, got nan at",
    ),
    "force field shape": (
        change(lambda f: f.forces[1], "values", np.zeros((8, 6, 9, 3))),
        r"ForceField.values must have the shape \(8, 12, 10, 3\)",
    ),
    "function of another shape": (
        with_force(lambda p, t: np.zeros((2, 2, 2, 3)) if t else np.zeros(3)),
        r"ForceExpression.numpy must return an array of the shape|Wind.velocity",
    ),
    "function that raises": (
        with_force(lambda p, t: 1 / 0 if t else np.zeros(3)),
        r"ForceExpression.numpy raised ZeroDivisionError at time 0.1: division by zero|Wind.velocity",
    ),
}


@pytest.mark.parametrize("backend", EVERYWHERE)
def test_after_bad_input_a_fluid_is_as_it_was(backend: str) -> None:
    for name, (act, says) in BAD_ACTS.items():
        with busy(backend) as fluid:
            things = fluid.emitters, fluid.obstacles, fluid.forces
            before, had = everything(fluid), [list(some) for some in things]
            with pytest.raises(gf.GpufluidError, match=says):
                act(fluid)
            if name.startswith("new"):
                assert [list(some) for some in things] == had, name
            for field, values in everything(fluid).items():
                assert np.array_equal(values, before[field]), (name, field)


def test_an_inflow_keeps_numbers_as_numbers() -> None:
    """An array of one number had no hash, which each step asks for."""
    sides = gf.Boundaries(left=gf.Inflow((1.0, 0.0, 0.0), density=np.array(0.5), temperature=np.float32(2.0)))
    assert hash(sides) == hash(gf.Boundaries(left=gf.Inflow((1.0, 0.0, 0.0), 0.5, 2.0)))
    assert sides == gf.Boundaries(left=gf.Inflow((1.0, 0.0, 0.0), 0.5, 2.0))


@pytest.mark.parametrize(
    ("where", "thing", "meant"),
    [
        ("emitters", BALL, r"gf\.Emitter\(shape, density=\.\.\.\)\?"),
        ("emitters", gf.Line([(0, 0, 0), (1, 1, 1)], 0.1), r"gf\.Emitter\(shape, density=\.\.\.\)\?"),
        ("obstacles", BALL, r"gf\.Obstacle\(shape\)\?"),
        ("emitters", gf.Obstacle(BALL), r"fluid\.obstacles\.add\?"),
        ("obstacles", gf.Wind((1.0, 0.0, 0.0)), r"fluid\.forces\.add\?"),
        ("forces", gf.Emitter(BALL, density=1.0), r"fluid\.emitters\.add\?"),
        ("forces", gf.Wind, r"an object of it, gf\.Wind\(\.\.\.\)\?"),
        ("emitters", [gf.Emitter(BALL, density=1.0)] * 2, r"to add them one by one\?"),
        ("obstacles", (gf.Obstacle(BALL),), r"to add them one by one\?"),
        ("emitters", gf.PointLight((0, 1, 0)), r"gf\.Scene\(fluid, lights=\[\.\.\.\]\)\?"),
        ("forces", gf.Light(), r"gf\.Scene\(fluid, light=\.\.\.\)\?"),
        ("forces", "wind", None),
    ],
)
def test_what_goes_elsewhere_is_told(where: str, thing: object, meant: str | None) -> None:
    with gf.Fluid(gf.Grid((4, 4, 4), 0.25), backend="numpy") as fluid:
        with pytest.raises(gf.GpufluidError, match=f"; did you mean {meant}$" if meant else "got 'wind'$"):
            getattr(fluid, where).add(thing)
        assert not len(getattr(fluid, where))


def test_nothing_is_in_a_fluid_twice() -> None:
    """It would count twice, which nobody sees; two alike are two."""
    with gf.Fluid(gf.Grid((4, 4, 4), 0.25), backend="numpy") as fluid:
        things: list[tuple[Any, Any]] = [
            (fluid.emitters, lambda: gf.Emitter(BALL, density=1.0)),
            (fluid.obstacles, lambda: gf.Obstacle(BALL)),
            (fluid.forces, lambda: gf.Wind((1.0, 0.0, 0.0))),
        ]
        for those, make in things:
            one = those.add(make())
            says = f"this {type(one).__name__} is in the fluid already"
            for again in (lambda: those.add(one), lambda: those.insert(0, one)):  # noqa: B023
                with pytest.raises(gf.GpufluidError, match=says):
                    again()
            assert list(those) == [one]
            those.add(make())
            those.remove(one)
            those.add(one)
            assert len(those) == 2


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (
            lambda f: gf.Scene(f, lights=[LAMP, gf.PointLight((0, 1, 0)), LAMP]),
            r"^lights\[2\] is the very one",
        ),
        (lambda f: gf.Scene(f, views=[SEEN, SEEN]), r"Scene.views\[1\] is the very one of Scene.views\[0\]"),
        (lambda f: gf.Scene(f, others=[f]), r"Scene.fluids\[1\] is the very one of Scene.fluids\[0\]"),
        (lambda f: gf.ParticlesView(sources=[BORN, BORN]), r"ParticlesView.sources\[1\] is the very one of"),
    ],
)
def test_nothing_is_in_a_scene_twice(make: Callable[[Any], object], says: str) -> None:
    with gf.Fluid(FLAT, backend="numpy") as fluid, pytest.raises(gf.GpufluidError, match=says):
        make(fluid)


LAMP, SEEN, BORN = gf.PointLight((0, 1, 0)), gf.SliceView(), gf.ParticleSource(gf.Sphere())


def test_lights_and_views_of_a_scene_are_lists() -> None:
    """A tuple that was put in their place stayed one, and took no more."""
    with gf.Fluid(FLAT, backend="numpy") as fluid:
        scene = gf.Scene(fluid, lights=(LAMP,), views=(SEEN,))
        scene.lights, scene.views = (*scene.lights, gf.PointLight((1, 1, 0))), ()
        scene.lights.append(gf.PointLight((0, 1, 1)))
        scene.views.append(SEEN)
        assert (len(scene.lights), scene.views) == (3, [SEEN])


def test_things_in_a_fluid_are_told_from_a_list() -> None:
    """Words of a list lead to those that there are."""
    with gf.Fluid(FLAT, backend="numpy") as fluid:
        things: Any = fluid.emitters
        for name in ("append", "extend", "pop"):
            with pytest.raises(
                AttributeError, match=rf"no '{name}' here; a gf.Emitter comes .* by add\(thing\)"
            ):
                getattr(things, name)(gf.Emitter(BALL))
        with pytest.raises(AttributeError, match="^'Things' object has no attribute 'colour'$") as raised:
            _ = things.colour
        assert (raised.value.name, raised.value.obj) == ("colour", things), "what Python suggests another for"
        with pytest.raises(gf.GpufluidError, match=r"a gf.Emitter comes there by add\(thing\)"):
            things[0] = gf.Emitter(BALL)
        with pytest.raises(gf.GpufluidError, match=r"a gf.Emitter comes there by add\(thing\)"):
            fluid.emitters += [gf.Emitter(BALL)]  # type: ignore[operator, assignment]
        with pytest.raises(gf.GpufluidError, match=r"a gf.Emitter comes there by add\(thing\)"):
            things + things
        with pytest.raises(gf.GpufluidError, match=r"a gf.Emitter goes by remove\(thing\)"):
            del things[0]
        with pytest.raises(gf.GpufluidError, match="index must be a whole number, got 'first'"):
            things.insert("first", gf.Emitter(BALL))
        assert not len(things)
        fluid.emitters.add(gf.Emitter(BALL))
        with pytest.raises(gf.GpufluidError, match="this ndarray is not in the fluid"):
            things.remove(np.zeros(3))


@pytest.mark.parametrize(
    ("slip", "says"),
    [
        (lambda f: gf.Scene(f).resume("a", "b"), "needs 1 file, one for each fluid, got 2$"),
        (lambda f: Keys([(0, 1.0), (1, (1, 2))]), r"keys\[1\] holds 2 numbers and the first 1$"),
        (lambda f: Keys([(0, (1, 2)), (1, 1.0)]), r"keys\[1\] holds 1 number and the first 2$"),
    ],
)
def test_one_is_told_as_one(slip: Callable[[Any], object], says: str) -> None:
    """Of one file, "1 files are needed"."""
    with gf.Fluid(FLAT, backend="numpy") as fluid, pytest.raises(gf.GpufluidError, match=says):
        slip(fluid)
    assert repr(gf.Mesh(np.eye(3), [[0, 1, 2]])) == "Mesh(3 vertices, 1 triangle)"


def test_a_released_fluid_takes_no_obstacle() -> None:
    fluid = gf.Fluid(gf.Grid((4, 4, 4), 0.1), backend="numpy")
    fluid.release()
    for things, thing in (
        (fluid.obstacles, gf.Obstacle(gf.Sphere(radius=0.1))),
        (fluid.emitters, gf.Emitter(gf.Sphere(radius=0.1), density=1.0)),
    ):
        with pytest.raises(gf.GpufluidError, match="released"):
            things.add(thing)


def test_numbers_may_be_numpys() -> None:
    """They are kept as Python's own: -np.uint8(1) is 255, and smoke grew by exp(255) a second."""
    few = np.uint8(3)
    made = [
        gf.Settings(**dict.fromkeys(("cfl", "max_substeps", "viscosity", "density_dissipation"), few)),
        gf.Settings(**dict.fromkeys(("weight", "buoyancy", "cooling", "vorticity_confinement"), few)),
        gf.Combustion(few, few, few, few, few, few, few),
        gf.Jacobi(few, np.float32(0.5), np.float16(0.5)),
        gf.ChebyshevJacobi(few, np.float32(0.5)),
        gf.RedBlackSOR(few, np.float16(1.5), np.array(0.5)),
        gf.ConjugateGradient(few, np.float32(0.5)),
        gf.Multigrid(few, few, np.float32(0.5)),
        gf.Emitter(gf.Sphere(radius=0.1), seed=few),
        gf.Camera(distance=few, azimuth=few, elevation=few, fov=few, near=few, far=np.uint8(9)),
        gf.Smoke(extinction=few, fade=few, edge=few, anisotropy=np.float32(0.5)),
        gf.Fire(glow=few, core=(few, few, few)),
        gf.PointLight((few, few, few), radius=few),
        gf.Picture(exposure=few),
    ]
    for one in made:
        for name, value in vars(one).items():
            assert not isinstance(value, np.generic | np.ndarray), (one, name)
    density = []
    for rate in (np.uint8(1), 1.0):
        rules = gf.Settings(density_dissipation=rate, pressure=gf.ChebyshevJacobi(np.uint8(2)))
        with gf.Fluid(gf.Grid((4, 4, 4), 0.1), settings=rules, backend="numpy") as fluid:
            fluid.density.write(np.ones((4, 4, 4)))
            fluid.step(0.5)
            density.append(fluid.density.read())
    assert np.array_equal(*density) and density[0].max() < 1.0


def test_a_flag_may_be_numpys() -> None:
    """What comes out of an array says True as well, and is kept as Python's own."""
    sphere, yes = gf.Sphere(radius=0.1), np.True_
    kept = [
        gf.Settings(warm_start=yes).warm_start,
        gf.Smoke(visible=yes).visible,
        gf.Emitter(sphere, density=1.0, active=yes).active,
        gf.Obstacle(sphere, visible=yes).visible,
    ]
    assert all(one is True for one in kept)
