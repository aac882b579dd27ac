"""Cameras: matrices and rays against values worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from view_flows import parallel

from gpufluid.common.errors import GpufluidError
from gpufluid.description.grid import Grid
from gpufluid.description.view import Camera
from gpufluid.render.camera import farthest_first, view_of


def test_straight_view_along_minus_z() -> None:
    view = view_of(
        Camera(target=(1.0, 2.0, 3.0), distance=4.0, elevation=0.0, fov=90.0, near=1.0, far=3.0), 2.0
    )
    # the eye stands at (1, 2, 7): a world point (2, 4, 5) is 1 to the right, 2 up and 2 in front
    np.testing.assert_allclose(view.view @ (2.0, 4.0, 5.0, 1.0), (1.0, 2.0, -2.0, 1.0), atol=1e-6)
    # fov 90: half the height at depth d is d; the picture twice as wide; (far + near) / (near - far) = -2
    expected = [[0.5, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, -2.0, -3.0], [0, 0, -1.0, 0]]
    np.testing.assert_allclose(view.projection, expected, atol=1e-6)
    assert view.view.dtype == view.projection.dtype == np.float32


def test_azimuth_and_elevation_turn_the_right_way() -> None:
    right = view_of(Camera(distance=2.0, azimuth=90.0, elevation=0.0), 1.0)  # the eye is on +x
    np.testing.assert_allclose(right.view @ (0.0, 0.0, 0.0, 1.0), (0, 0, -2.0, 1.0), atol=1e-6)
    np.testing.assert_allclose(right.view @ (0.0, 0.0, 1.0, 1.0), (-1.0, 0, -2.0, 1.0), atol=1e-6)
    above = view_of(Camera(distance=2.0, azimuth=0.0, elevation=89.0), 1.0)
    np.testing.assert_allclose(
        above.rays.forward, (0, -np.sin(np.radians(89)), -np.cos(np.radians(89))), atol=1e-6
    )
    assert (above.view @ (0.0, 0.0, -1.0, 1.0))[1] > 0.9  # what lies behind the target is up in the picture


def test_a_camera_is_put_where_it_looks_from() -> None:
    """The angles are those of that place; nothing changes where it cannot stand."""
    camera = Camera(target=(1.0, 2.0, 3.0))
    camera.eye = (1.0 + 3.0, 2.0, 3.0)
    assert (camera.distance, camera.azimuth, camera.elevation) == pytest.approx((3.0, 90.0, 0.0))
    camera.eye = (1.0 - 1.0, 2.0 - np.sqrt(2.0), 3.0 - 1.0)
    assert (camera.distance, camera.azimuth, camera.elevation) == pytest.approx((2.0, -135.0, -45.0))
    for place in ((7.0, 0.5, -2.0), (0.0, 9.0, 3.5), (1.0, 2.0, 2.9)):
        camera.eye = place
        assert camera.eye == pytest.approx(place)
        view = view_of(camera, 1.0).view
        np.testing.assert_allclose(view @ (*place, 1.0), (0.0, 0.0, 0.0, 1.0), atol=1e-5)
        np.testing.assert_allclose(view @ (*camera.target, 1.0), (0, 0, -camera.distance, 1.0), atol=1e-5)
    before = repr(camera)
    for bad in ((1.0, 2.0, 3.0), (1.0, 9.0, 3.0), (1.0, -9.0, 3.1)):
        with pytest.raises(GpufluidError, match=r"Camera.eye must be .* \(1.0, 2.0, 3.0\), at -89 to"):
            camera.eye = bad
    for target, distance in ((0.4, 0.4, 0.4), 1e-30), ((0.0, -5e4, 3.0), 4e-8), ((0.0, 0.0, 0.0), 1e-200):
        with pytest.raises(GpufluidError, match=r"Camera.distance must be a finite number > (4|5|2.94)"):
            Camera(target, distance)
    assert np.isfinite(view_of(Camera((0.0, -5e4, 3.0), 6e-8), 1.0).view).all()
    with pytest.raises(GpufluidError, match="Camera.eye must be three numbers"):
        camera.eye = 3.0  # type: ignore[assignment]
    assert repr(camera) == before
    for elevation in (89.0, 12.3, -89.0):  # the very steepest, but for rounding
        for azimuth in range(-179, 180, 7):
            camera = Camera((0.1, 0.2, 0.3), 1.7, float(azimuth), elevation)
            before = repr(camera)
            camera.eye = camera.eye
            assert repr(camera) == before


def test_whole_number_angles_and_targets_make_a_rotation() -> None:
    view = view_of(Camera(target=(0, 0, 0), distance=2, azimuth=0, elevation=0), 1.0).view  # type: ignore[arg-type]
    np.testing.assert_allclose(view[:3, :3] @ view[:3, :3].T, np.eye(3), atol=1e-6)


CAMERA = Camera(
    target=(0.1, 0.4, -0.2), distance=2.3, azimuth=37.0, elevation=-21.0, fov=50.0, near=0.1, far=9.0
)
HOST = view_of(CAMERA, 1.6).view


@pytest.mark.parametrize(
    "camera", [CAMERA, (HOST, parallel(1.5, 0.9, 0.2, 8.0)), (HOST, parallel(1.5, 0.9, -2.0, 8.0))]
)
def test_rays_pass_through_what_the_matrices_show(camera: object) -> None:
    view = view_of(camera, 1.6)  # type: ignore[arg-type]
    rays = view.rays
    a, b, c, d = view.depth_scale
    for x, y, depth in [(0.0, 0.0, 1.0), (-0.7, 0.3, 2.0), (1.0, -1.0, 0.5), (0.4, 0.9, 7.0)]:
        weights = np.array([1.0, x, y])
        point = weights @ rays.origin + depth * (weights @ rays.direction)
        clip = view.clip.astype(np.float64) @ np.append(point, 1.0)
        np.testing.assert_allclose(clip[:2] / clip[3], (x, y), atol=2e-6)
        z = clip[2] / clip[3]
        assert (a * z + b) / (c * z + d) == pytest.approx(depth, rel=1e-4)
        assert rays.depth(point) == pytest.approx(depth, abs=1e-6)
    np.testing.assert_allclose(view.inverse @ view.clip, np.eye(4), atol=1e-3)


def test_near_plane_is_found() -> None:
    assert view_of(CAMERA, 1.0).rays.near == pytest.approx(0.1, rel=1e-5)
    assert view_of((HOST, parallel(1.0, 1.0, 0.2, 8.0)), 1.0).rays.near == pytest.approx(0.2, rel=1e-5)
    assert view_of((HOST, parallel(1.0, 1.0, -2.0, 8.0)), 1.0).rays.near == pytest.approx(-2.0, rel=1e-5)
    reversed_infinite = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, 1.0, 0.5], [0, 0, -1.0, 0]])
    assert view_of((HOST, reversed_infinite), 1.0).rays.near == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("camera", "words"),
    [
        (None, "gpufluid.Camera or a pair"),
        ((np.eye(4), np.eye(3)), "the projection matrix must be"),
        ((np.full((4, 4), np.nan), np.eye(4)), "the view matrix must be"),
        ((np.eye(4), np.zeros((4, 4))), "invertible"),
        ((HOST, view_of(CAMERA, 1.0).projection.T), "projection matrix, which stands left of column"),
        ((HOST.T, view_of(CAMERA, 1.0).projection), "view matrix, which stands left of column vectors"),
    ],
)
def test_bad_cameras_are_named(camera: object, words: str) -> None:
    with pytest.raises(GpufluidError, match=words):
        view_of(camera, 1.0)  # type: ignore[arg-type]


def boxes_side_by_side(rng: np.random.Generator) -> list[Grid]:
    """A block of cells cut into pieces again and again, some left out; cells of 0.1 m."""
    pieces = [(np.array((-15, -10, -12)), np.array((15, 10, 12)))]
    for _ in range(6):
        low, high = pieces.pop(int(rng.integers(len(pieces))))
        axis = int(rng.integers(3))
        cut_low, cut_high = low.copy(), high.copy()
        cut_low[axis] = cut_high[axis] = (
            rng.integers(low[axis] + 1, high[axis]) if high[axis] - low[axis] > 1 else low[axis]
        )
        pieces += [(a, b) for a, b in ((low, cut_high), (cut_low, high)) if (b > a).all()]
    kept = [pieces[n] for n in rng.permutation(len(pieces))[:5]]
    return [Grid(tuple((b - a).tolist()), 0.1, tuple((0.1 * a).tolist())) for a, b in kept]


@pytest.mark.parametrize("flat", [False, True])
def test_boxes_are_drawn_before_those_that_hide_them(rng: np.random.Generator, flat: bool) -> None:
    """Of whatever sizes: on the way of random rays, the boxes that these meet come nearest last."""
    met, by_middles = 0, 0
    for _ in range(60):
        grids = boxes_side_by_side(rng)
        camera = Camera(target=tuple(rng.uniform(-1.0, 1.0, 3)), distance=float(rng.uniform(0.5, 4.0)))
        camera.azimuth, camera.elevation = float(rng.uniform(0.0, 360.0)), float(rng.uniform(-80.0, 80.0))
        view = view_of(camera, 1.3)
        rays = (view_of((view.view, parallel(2.0, 1.5, -9.0, 9.0)), 1.3) if flat else view).rays
        order = farthest_first(grids, rays)
        assert sorted(order) == list(range(len(grids)))
        assert rays.parallel == flat
        places = np.concatenate([np.ones((200, 1)), rng.uniform(-1.0, 1.0, (200, 2))], axis=1)
        for start, way in zip(places @ rays.origin, places @ rays.direction, strict=True):
            enters = []
            for n in order:
                low = np.array(grids[n].origin)
                ends = np.stack([low - start, low + grids[n].size - start]) / way
                first, last = max(ends.min(axis=0).max(), 0.0), ends.max(axis=0).min()
                if last - first > 1e-6:
                    enters.append(first)
            assert enters == sorted(enters, reverse=True)
            met += len(enters) > 1
        depths = [-rays.depth(np.array(g.origin) + 0.5 * np.array(g.size)) for g in grids]
        by_middles += order != sorted(range(len(grids)), key=depths.__getitem__)
    assert met > 1000 and by_middles > 5


def test_a_camera_in_its_place_is_not_moved_by_being_put_there(rng: np.random.Generator) -> None:
    """To the last bit: the pictures of a resumed run are those of one from the beginning."""
    for azimuth, elevation in rng.uniform((-180.0, -80.0), (180.0, 80.0), (50, 2)):
        camera = Camera(azimuth=azimuth, elevation=elevation)
        camera.frame((-0.3, 0.1, 0.2), (0.7, 1.3, 0.9))
        placed = repr(camera)
        camera.frame((-0.3, 0.1, 0.2), (0.7, 1.3, 0.9))
        assert repr(camera) == placed
