"""Where in a box there is anything to see: the boxes of blocks and the spans of slices are the exact ones."""

from __future__ import annotations

import re

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray
from puff import Floats, Puff, specks
from sharing import CELLS

import gpufluid as gf
from gpufluid.description.view import Look
from gpufluid.gl.device import Device
from gpufluid.gl.programs import compiled
from gpufluid.render.frame import FrameRenderer
from gpufluid.render.occupancy import Occupancy

Cells = NDArray[np.bool_]


def boxes_of(held: Cells, edge: int) -> tuple[Floats, Cells]:
    """What each block of [z, y, x] says of the box round what it holds, and the cells of all boxes."""
    counts = [-(-n // edge) for n in held.shape]
    boxes, within = np.full((*counts, 2), -1.0), np.zeros_like(held)
    for place in np.ndindex(*counts):
        block = tuple(slice(edge * n, edge * (n + 1)) for n in place)
        if held[block].any():
            low, high = ([int(end(cells)) for cells in np.nonzero(held[block])] for end in (np.min, np.max))
            boxes[place] = [z << 14 | y << 7 | x for z, y, x in (low, high)]
            box = tuple(slice(a, b + 1) for a, b in zip(low, high, strict=True))
            within[block][box] = True
    return boxes, within


def grown(cells: Cells, margin: int) -> Cells:
    """Those and all within `margin` of them along every axis."""
    for axis in range(3):
        padded = np.pad(cells, [(margin, margin) if axis == n else (0, 0) for n in range(3)])
        shifts = range(2 * margin + 1)
        cells = np.any([np.take(padded, n + np.arange(cells.shape[axis]), axis) for n in shifts], axis=0)
    return cells


def span_of(cells: Cells, x: int, y: int) -> tuple[int, ...]:
    """The ends of a rectangle round [y, x], whose corner lies at cell x, y; 0 where there is nothing."""
    if not cells.any():
        return 0, 0, 0, 0
    rows, columns = np.nonzero(cells)
    return x + columns.min(), x + columns.max() + 1, y + rows.min(), y + rows.max() + 1


@pytest.mark.parametrize(
    "cells", [(64, 64, 64), (21, 17, 26), (90, 11, 70), (9, 700, 5), (30, 21, 1)], ids=str
)
@pytest.mark.parametrize("beside_solids", [False, True])
def test_boxes_and_spans_are_those_of_what_is_there(
    device: Device, rng: np.random.Generator, cells: tuple[int, int, int], beside_solids: bool
) -> None:
    grid = gf.Grid(cells)
    density, solids = specks(rng, grid, 9), None
    if beside_solids:
        solids = np.where(density > 0.0, 0.0, specks(rng, grid, 4) > 0.0)
    else:
        density[-1, -1, -1] = np.nan  # is something
    puff = Puff(device, grid, density, solids)
    occupancy = Occupancy(device, puff)
    occupancy.update(puff, Look())
    occupancy.spread(puff)
    edge, found, spans = occupancy._defines["EDGE"], occupancy.boxes.read(), occupancy._spans.read()
    shows = density != 0.0
    boxes, within = boxes_of(shows, edge)
    assert np.array_equal(found[..., :2], boxes)
    assert np.array_equal(
        found[..., 2:], boxes_of(shows if solids is None else shows | (solids > 0.0), edge)[0]
    )
    near = grown(within, 2 if beside_solids else 1)
    width, height = edge * occupancy._defines["SPAN"], edge * occupancy._defines["ROWS"]
    for z, y, x in np.ndindex(grid.cells[2], *spans.shape[1:3]):
        strip = near[z, height * y : height * (y + 1), width * x : width * (x + 1)]
        assert tuple(spans[z, y, x]) == span_of(strip, width * x, height * y)
    assert spans[-1, 0, 0, 0] == within.sum()
    occupancy.release()


@pytest.mark.parametrize("cells", [(64, 64, 64), (512, 8, 8), (8, 704, 8), (8, 8, 2048)], ids=str)
def test_a_block_is_no_larger_than_a_fragment_can_look_through(
    device: Device, cells: tuple[int, int, int]
) -> None:
    """From 648 cells on llvmpipe broke off in the middle of a block, and smoke was missing from pictures."""
    puff = Puff(device, gf.Grid(cells))
    occupancy = Occupancy(device, puff)
    blocks, edge = np.array(occupancy.boxes.layout.size), occupancy._defines["EDGE"]
    assert edge**3 / 32 < 60_000, "rows of eight cells, by four"
    assert edge <= 128, "a cell's place along an axis has seven bits, see box_cells.glsl"
    assert (edge * blocks >= cells).all() and (edge * (blocks - 1) < cells).all()
    occupancy.release()


def test_no_pass_is_told_of_a_box_what_it_does_not_read(ctx: moderngl.Context) -> None:
    """Of a step and a picture: what finds where nothing is was compiled anew for cells of another size."""
    sides = gf.Boundaries(top=gf.Wall(velocity=(0.3, 0.0, 0.0), temperature=0.5), left=gf.Open())
    with gf.Fluid(gf.Grid(CELLS, 0.1), sides, backend="fragment", ctx=ctx) as fluid:
        fluid.emitters.add(gf.Emitter(gf.Sphere((0.5, 0.3, 0.4), 0.2), density=3.0, temperature=2.0))
        fluid.step(0.02)
        frames = FrameRenderer(ctx, (64, 36))
        frames.draw(gf.Scene(fluid, gf.Camera((0.5, 0.5, 0.5), distance=2.5)))
        texts = [re.sub(r"//.*", "", text) for text in compiled[ctx].by_text]
        frames.release()
    told = 0
    for text in texts:
        for name in ("cell_size", "wall_velocity", "wall_temperature", "entering"):
            declared = len(re.findall(rf"^const \w+ {name}\b", text, re.MULTILINE))
            told += declared
            assert declared == 0 or len(re.findall(rf"\b{name}\b", text)) > declared, (name, text)
    assert told > 12
