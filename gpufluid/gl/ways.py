"""The ways to run kernels: the shader stage, and how texels are read. What a context has; what rules take."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import NamedTuple

from gpufluid.common.errors import GpufluidError, one_of
from gpufluid.contract.kernels import WALKS

BACKENDS = ("auto", "compute", "fragment")
STAGES = ("compute", "fragment")
READINGS = ("image", "nearest", "texel")
SWEEPS = (1, *(walk.sweeps for walk in WALKS.values()))
JOINED = {"apart": False, "joined": True}  # words for confinement in three passes, and in one
VARIABLE = "GPUFLUID_WAY"
RULE = "rule"


@dataclass(frozen=True)
class Way:
    """A stage, "compute" (GL 4.3) or "fragment" (GL 3.3), and a reading.

    reading: "image" (imageLoad), "nearest" (texture() at texel centres) or "texel" (texelFetch). For large
    boxes, and compute passes alone: sweeps of Jacobi's that a pass makes, one of SWEEPS; joined: vorticity
    confinement is one pass, not three.
    """

    stage: str
    reading: str
    sweeps: int = 1
    joined: bool = False

    def __str__(self) -> str:
        more = f", {self.sweeps} sweeps a pass" if self.sweeps > 1 else ""
        return f"{self.stage} {self.reading}{more}{', confinement joined' if self.joined else ''}"


def readings(version: int, stage: str) -> tuple[str, ...]:
    """The readings of a stage in a context of OpenGL `version`, 330 for 3.3."""
    images = version >= (430 if stage == "compute" else 420)
    return READINGS if images else READINGS[1:]


def stages(version: int) -> tuple[str, ...]:
    """The stages of a context of OpenGL `version`."""
    return STAGES if version >= 430 else STAGES[1:]


def by_rule(version: int, software: bool, stage: str | None = None) -> Way:
    """What is taken where nothing was measured: what mostly is the fastest.

    A GPU runs compute passes where it has them and fetches texels; a software renderer runs fragment passes
    faster, and imageLoad three times as fast as texelFetch. stage: of that stage.
    """
    if stage is None:
        stage = "compute" if "compute" in stages(version) and not software else "fragment"
    return Way(stage, readings(version, stage)[0] if software else "texel")


def check(
    version: int,
    renderer: str,
    stage: str | None,
    reading: str | None = None,
    what: str = "backend",
    sweeps: int = 1,
    joined: bool = False,
) -> None:
    """Raise GpufluidError where a context of OpenGL `version` lacks `stage`, or the rest in it.

    None: nothing was asked for. what: asked for it.
    """
    if reading is not None:
        one_of(reading, READINGS, "reading")
    here = f"this context is {version // 100}.{version % 100 // 10} ({renderer})"
    if stage is not None and stage not in stages(version):
        raise GpufluidError(f'{what}="compute" needs OpenGL 4.3, {here}: use "fragment" or "auto"')
    if reading is not None and reading not in readings(version, stage or "fragment"):
        raise GpufluidError(f"{what}: reading by imageLoad needs OpenGL 4.2, {here}")
    for asked, told in (
        (sweeps > 1, f"{sweeps} sweeps a pass need"),
        (joined, "confinement in one pass needs"),
    ):
        if asked and stage != "compute":
            raise GpufluidError(f"{what}: {told} compute passes, here kernels run as {stage} ones")


class Asked(NamedTuple):
    """What GPUFLUID_WAY asks for, each None where it says nothing; rules: just the rules."""

    stage: str | None
    reading: str | None
    sweeps: int | None
    joined: bool | None
    rules: bool


def asked_for() -> Asked:
    """What the variable GPUFLUID_WAY asks for.

    It holds one word of each kind, with commas between them, or "rule". Raises GpufluidError for others.
    """
    words = list(filter(None, os.environ.get(VARIABLE, "").replace(" ", "").split(",")))
    kinds = STAGES, READINGS, tuple(map(str, SWEEPS)), tuple(JOINED)
    for word in words:
        one_of(word, (*sum(kinds, ()), RULE), VARIABLE)
    found = [[word for word in words if word in names] for names in kinds]
    if any(len(each) > 1 for each in found) or (RULE in words and len(words) > 1):
        raise GpufluidError(
            f'{VARIABLE} must be a stage, a reading, a number of sweeps, "joined" or "apart", several of '
            f'these with commas, or "{RULE}", got {",".join(words)!r}'
        )
    stage, reading, sweeps, joined = (each[0] if each else None for each in found)
    return Asked(
        stage,
        reading,
        None if sweeps is None else int(sweeps),
        None if joined is None else JOINED[joined],
        RULE in words,
    )
