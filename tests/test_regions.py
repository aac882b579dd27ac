"""Passes that change a field in a few boxes alone: the same values, and nothing else is touched."""

from __future__ import annotations

from math import prod
from typing import Any

import moderngl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_kernels import VARIANTS, Case
from undrawn import undrawn

import gpufluid as gf
from gpufluid.contract.kernels import KERNELS
from gpufluid.description.boundaries import Boundaries
from gpufluid.gl.backend import GLBackend
from gpufluid.gl.regions import WORTH, count_of, groups_of, regions_of

CELLS = (13, 11, 9)
LOCAL = sorted(name for name, kernel in KERNELS.items() if kernel.local)
BOXES: list[Any] = [((2.0, 1.0, 3.0), (6.0, 4.0, 5.0)), ((9.0, -2.0, 6.0), (30.0, 5.5, 7.5))]
SENTINEL = 77.0

whole = st.integers(-4, 20).map(float)
corners = st.tuples(st.tuples(whole, whole, whole), st.tuples(whole, whole, whole))
boxes = corners.map(lambda two: (list(map(min, *two)), list(map(max, *two))))


def inside(regions: Any, size: tuple[int, int, int]) -> Any:
    """Which values of a field lie in any of the regions, [z, y, x]."""
    there = np.zeros(size[::-1], bool)
    for (x, y, z), (right, top, back) in regions:
        there[z:back, y:top, x:right] = True
    return there


def boxes_of(where: list[Any], size: tuple[int, int, int], periodic: Boundaries) -> Any:
    """The values that boxes of cells touch: of faces those on both sides of a cell."""
    there = np.zeros(size[::-1], bool)
    for low, high in where:
        slices = []
        for axis in (2, 1, 0):
            n = size[axis]
            first, last = max(int(np.floor(low[axis])), 0), min(int(np.ceil(high[axis])) + 1, n)
            slices.append(slice(first, max(last, first)))
        there[tuple(slices)] = True
    for axis in range(3):
        if periodic.periodic(axis):  # the first face is the last
            ends = there.swapaxes(0, 2 - axis)
            ends[0] = ends[-1] = ends[0] | ends[-1]
    return there


@pytest.mark.parametrize("sides", [Boundaries(), Boundaries(left=gf.Periodic(), right=gf.Periodic())])
@given(where=st.lists(boxes, max_size=6))
def test_regions_hold_what_boxes_touch(sides: Boundaries, where: list[Any]) -> None:
    size = (14, 12, 10)
    regions = regions_of(where, size, sides)
    if regions is None:
        return
    there = inside(regions, size)
    assert not (boxes_of(where, size, sides) & ~there).any()
    assert sum(map(count_of, regions)) < WORTH * prod(size)
    for region in regions:  # each lies in the field and is not empty
        assert count_of(region) == inside([region], size).sum() > 0
        across, down, deep = groups_of(region, (4, 2))
        (x, y, z), (right, top, back) = region
        assert across * 4 >= right - x > (across - 1) * 4
        assert down * 2 >= top - y > (down - 1) * 2
        assert deep == back - z


def test_a_region_of_more_slices_than_a_dispatch_has_workgroups_is_none() -> None:
    """OpenGL promises 65535 along z: smoke of a source as long did not come, and nobody was told."""
    size = (2, 2, 150_000)
    (region,) = regions_of([((0.0, 0.0, 40.0), (2.0, 2.0, 65_574.0))], size, Boundaries()) or ()
    assert groups_of(region, (8, 8)) == (1, 1, 65_535)
    assert regions_of([((0.0, 0.0, 40.0), (2.0, 2.0, 65_575.0))], size, Boundaries()) is None


def test_overlapping_boxes_are_done_once() -> None:
    """Eight places on the way of a small source are one region, and two far apart are two."""
    way: list[Any] = [((n / 4, 2.0, 2.0), (n / 4 + 4, 6.0, 6.0)) for n in range(8)]
    assert len(regions_of(way, (40, 40, 40), Boundaries()) or ()) == 1
    far: list[Any] = [((2.0,) * 3, (5.0,) * 3), ((20.0,) * 3, (24.0,) * 3)]
    assert len(regions_of(far, (40, 40, 40), Boundaries()) or ()) == 2
    assert regions_of([((0.0,) * 3, (30.0,) * 3)], (40, 40, 40), Boundaries()) is not None
    assert regions_of([((0.0,) * 3, (31.0,) * 3)], (40, 40, 40), Boundaries()) is None  # more than half
    assert regions_of([((50.0,) * 3, (60.0,) * 3)], (40, 40, 40), Boundaries()) == []


@pytest.mark.parametrize("precision", ["single", "half"])
@pytest.mark.parametrize("stage", ["fragment", "compute"])
@pytest.mark.parametrize("name", LOCAL)
def test_a_kernel_within_boxes(ctx: moderngl.Context, name: str, stage: str, precision: str) -> None:
    """There it leaves what it leaves everywhere, in the front; elsewhere neither texture is touched."""
    if stage == "compute" and ctx.version_code < 430:
        pytest.skip("compute passes need OpenGL 4.3")
    kernel, variant = KERNELS[name], VARIANTS["solids, periodic, open, inflow"]
    case = Case(CELLS, variant)
    backend = GLBackend(case.grid, stage, ctx, precision)
    fields = case.fields(backend, kernel)
    out, parameters = fields[kernel.write.name], case.parameters(kernel)
    start = out.read()
    run = backend.kernel(name, variant)
    run(**fields, **parameters)
    everywhere = out.read()
    assert (everywhere != start).any()

    out.write(np.full(start.shape, SENTINEL))
    out.turn()
    out.write(start)
    front, back, version = out.front, out.back, out.version
    run.within(BOXES, **fields, **parameters)
    size = out.layout.size
    regions = regions_of(BOXES, size, variant.boundaries)
    assert regions is not None
    there = inside(regions, size)[..., None]
    assert 0.05 < there.mean() < WORTH
    assert out.front is front and out.back is back and out.version > version
    assert np.array_equal(out.read(), np.where(there, everywhere, start))
    assert np.array_equal(out.read([back]), np.where(there, everywhere, SENTINEL))

    with undrawn():  # to measure what the rest takes
        out.write(np.full(start.shape, SENTINEL))
        run.within(BOXES, **fields, **parameters)
        assert (out.read() == SENTINEL).all()

    version = out.version
    run.within([((50.0,) * 3, (60.0,) * 3)], **fields, **parameters)  # nowhere: nothing to do
    assert out.version == version and out.front is front
    run.within(None, **fields, **parameters)
    assert out.front is back
    for each in fields.values():
        each.release()


def test_what_another_field_shows_stays(ctx: moderngl.Context) -> None:
    """A still of a field, as `advance` takes one, is not changed by a source that comes on meanwhile."""
    with gf.Fluid(
        gf.Grid((26, 22, 18), 0.1), settings=gf.Settings(buoyancy=0.0), backend="fragment", ctx=ctx
    ) as fluid:
        fluid.emitters.add(gf.Emitter(gf.Sphere((0.6, 0.5, 0.4), 0.15), density=3.0))
        scalars: Any = fluid._solver.scalars
        fluid.step(0.1)
        still, before = scalars.held(), scalars.read()
        fluid.step(0.1)
        assert np.array_equal(still.read(), before)
        assert scalars.read()[..., 0].max() > 1.5 * before[..., 0].max()
        still.release()
