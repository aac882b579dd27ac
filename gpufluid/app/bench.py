"""The command ``gpufluid bench``: how fast this machine steps a plume, as lines, JSON or a page."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from gpufluid.app.timing import (
    NUMPY_SAMPLES,
    PICTURE,
    PROFILES,
    SAMPLES,
    Case,
    measure_gl,
    measure_numpy,
    measure_picture,
)
from gpufluid.common.checks import whole_number
from gpufluid.common.errors import GpufluidError, one_of
from gpufluid.contract.backend import released
from gpufluid.description.settings import PRECISIONS, TRACES
from gpufluid.description.view import METHODS
from gpufluid.engine.fluid import BACKENDS

LEAST_MS = 0.01  # that the table of passes shows: of less no rate is told

UNSAID: dict[str, Any] = {  # what holds for options that are not given
    "cells": (64, 64, 64),
    "backend": "auto",
    "profile": "plain",
    "trace": None,
    "precision": "single",
    "samples": None,
    "solids": True,
    "baseline": True,
    "render": True,
    "method": METHODS[0],
    "page": None,
    "json": False,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command; those of UNSAID are left out of what is parsed where they are."""
    add = partial(parser.add_argument, default=argparse.SUPPRESS)
    add("--cells", type=int, nargs=3, metavar=("X", "Y", "Z"), help="cells of the grid (default: 64 64 64)")
    add("--backend", metavar="NAME", help=f"how kernels run, one of {', '.join(BACKENDS)}")
    add("--profile", metavar="NAME", help=f"settings of the step, one of {', '.join(PROFILES)}")
    add(
        "--trace",
        metavar="NAME",
        help=f"how the flow is traced back, one of {', '.join(TRACES)} (default: the profile's)",
    )
    add("--precision", metavar="NAME", help=f"floats in the textures, one of {', '.join(PRECISIONS)}")
    add(
        "--samples",
        type=int,
        metavar="N",
        help=f"steps to measure (default: {SAMPLES}; {NUMPY_SAMPLES} on numpy)",
    )
    add("--solids", action=argparse.BooleanOptionalAction, help="a mesh as an obstacle (default), or none")
    add(
        "--no-baseline",
        dest="baseline",
        action="store_false",
        help="skip the plain code that the step is compared with",
    )
    add("--no-render", dest="render", action="store_false", help="skip the picture")
    add("--method", metavar="NAME", help=f"how the picture is drawn, one of {', '.join(METHODS)}")
    add(
        "--page",
        type=Path,
        metavar="FILE",
        help="measure many sizes, solvers and stages instead, and write FILE (.md); goes only with --samples",
    )
    add("--json", action="store_true", help="print one JSON object as the last line")


def run(given: argparse.Namespace) -> int:
    """Measure what is `given` and print it. Raises GpufluidError for bad sizes and names."""
    args = argparse.Namespace(**UNSAID | vars(given))
    one_of(args.backend, BACKENDS, "backend")
    one_of(args.profile, tuple(PROFILES), "profile")
    one_of(args.method, METHODS, "method")
    one_of(args.precision, PRECISIONS, "precision")
    if args.trace is not None:
        one_of(args.trace, TRACES, "trace")
    if args.samples is not None:
        whole_number(args.samples, "samples", low=1)
    if args.page is not None:
        measured = [name for name in UNSAID if name not in ("page", "samples")]
        _refuse(given, measured, "--page chooses itself what it measures", " (--samples goes with it)")
        return _page(args.page, args.samples or SAMPLES)
    case = Case(tuple(args.cells), args.profile, args.solids, trace=args.trace, precision=args.precision)
    if args.backend == "numpy":
        of_gl = "precision", "baseline", "render", "method"
        _refuse(given, of_gl, "--backend numpy measures steps alone, in double precision")
        report = measure_numpy(case, args.samples or NUMPY_SAMPLES)
    else:
        from gpufluid.gl.contexts import create_context

        samples = args.samples or SAMPLES
        with released(create_context()) as ctx:
            baseline = args.baseline and args.profile == "plain"
            report = measure_gl(ctx, case, args.backend, samples, baseline)
            if args.render:
                report["render_ms"] = measure_picture(ctx, case, args.backend, samples, args.method)
    for line in lines(report):
        print(line)
    if args.json:
        print(json.dumps(report))
    return 0


def _refuse(given: argparse.Namespace, without: Sequence[str], why: str, more: str = "") -> None:
    """Raise GpufluidError for options `given` that are among those `without` any effect."""
    names = {"baseline": "no-baseline", "render": "no-render"}
    refused = [name for name in without if name in given]
    if refused:
        options = ", ".join(f"--{names.get(name, name)}" for name in refused)
        raise GpufluidError(f"{why}: leave out {options}{more}")


def _page(path: Path, samples: int) -> int:
    from gpufluid.app.performance import write_page
    from gpufluid.gl.contexts import create_context

    with released(create_context()) as ctx:
        write_page(path, ctx, samples)
    print(f"wrote {path.absolute()}")
    return 0


def lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the report for people, line by line."""
    x, y, z = report["cells"]
    solids = "a mesh as an obstacle" if report["solids"] else "no obstacle"
    yield f"case             {report['profile']} step, {x} x {y} x {z} cells, {solids}"
    yield f"processor        {report['cpu']}, {report['cores']} cores"
    if report["renderer"]:
        yield f"renderer         {report['renderer']}, OpenGL {report['gl_version']}"
        yield f"kernels run as   {report['stage']} passes, reading: {report['reading']}, {report['chosen']}"
    else:
        yield "kernels run as   NumPy, float64"
    yield f"step             {_spread(report['step_ms'])}, {report['cells_per_second'] / 1e6:.2f} M cells/s"
    yield f"40 sweeps        {_spread(report['jacobi_ms'])}"
    if "python_ms" in report:
        yield f"calling thread   {report['python_ms']:.2f} ms a step, of Python and the driver"
        compiled = report["compile_ms"] * 1e-3
        yield f"shaders          {compiled:.2f} s to compile, or to find where the driver keeps them"
        yield f"memory           {report['field_bytes'] / 2**20:.1f} MiB in fields"
        yield f"copies           {report['copy_bytes_per_second'] / 1e9:.1f} GB/s, read and written"
        yield ""
        yield from _table(report)
        if report["software"] and report["stage"] == "compute":
            yield "(software renderers count compute passes late: times slip from one pass to the next)"
    if "render_ms" in report:
        yield ""
        yield f"{'picture, {} x {}'.format(*PICTURE):24} {'ms':>9}"
        yield from (f"{label:24} {ms:9.2f}" for label, ms in report["render_ms"].items())
    if report["baseline_step_ms"]:
        yield ""
        yield _ratio("jacobi 40 sweeps", report["jacobi_ms"], report["baseline_jacobi_ms"])
        yield _ratio("plain step", report["step_ms"], report["baseline_step_ms"])


def _spread(times: Sequence[float]) -> str:
    return f"{median(times):.2f} ms (median of {len(times)}, {min(times):.2f} to {max(times):.2f})"


def _table(report: Mapping[str, Any]) -> Iterator[str]:
    """The passes: time, the bytes they must move, and that rate as a share of a copy's."""
    engine, baseline = report["passes_ms"], report["baseline_passes_ms"]
    moved, copies = report["passes_bytes"], report["copy_bytes_per_second"]
    head = f"{'pass, ms by GPU queries':24} {'engine':>9} {'MiB':>8} {'of a copy':>9}"
    yield head + (f" {'baseline':>9}" if baseline else "")
    rows = [(label, ms, moved.get(label), baseline.get(label, 0.0)) for label, ms in engine.items()]
    rows.append(("sum", sum(engine.values()), sum(moved.values()), sum(baseline.values())))
    for label, ms, size, other in rows:
        told = f"{size / 2**20:8.1f}" if size else f"{'':8}"
        share = f"{size / (ms * 1e-3) / copies:9.2f}" if size and ms >= LEAST_MS else f"{'':9}"
        yield f"{label:24} {ms:9.2f} {told} {share}" + (f" {other:9.2f}" if baseline else "")


def _ratio(what: str, engine: Sequence[float], baseline: Sequence[float]) -> str:
    a, b = median(engine), median(baseline)
    return f"{what}: engine {a:.2f} ms, baseline {b:.2f} ms, ratio {a / b:.3f}"
