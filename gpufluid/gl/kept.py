"""What a trial of the ways to run kernels found, kept in a file of the user's for each driver.

One small file of JSON a driver, in the user's folder for caches. It is read with suspicion: what is no such
file, or says what a context does not have, is as good as none.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
import sys
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from gpufluid.common.files import first_file, open_plain, partial_path, whole_file
from gpufluid.gl.ways import JOINED, READINGS, STAGES, SWEEPS, Way

VARIABLE = "GPUFLUID_CACHE"
OFF = "off"
LONGEST = 1 << 14  # bytes of a file
RACES = "ms", "large", "pushed"
WAYS = {
    str(way): way
    for way in itertools.starmap(Way, itertools.product(STAGES, READINGS, SWEEPS, JOINED.values()))
    if way == Way(way.stage, way.reading) or way.stage == "compute"
}


@dataclass(frozen=True)
class Kept:
    """What a trial found.

    when: in UTC. ms, large, pushed: medians of what each way took in the trial, milliseconds; in a large box
    for the pressure, and for confinement. wrong: names of ways that were fast, and gave other numbers.
    """

    way: Way
    rule: Way
    when: datetime
    ms: dict[str, float]
    large: dict[str, float] = field(default_factory=dict)
    pushed: dict[str, float] = field(default_factory=dict)
    wrong: tuple[str, ...] = ()


def cache_folder() -> Path | None:
    """The folder that things are kept in between runs, there or not; None where nothing is to be kept.

    The variable GPUFLUID_CACHE names another one, or says "off".
    """
    given = os.environ.get(VARIABLE, "")
    if given:
        return None if given == OFF else Path(given)
    try:
        if sys.platform == "win32":
            base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Caches"
        else:
            base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # nobody's home
        return None
    return base / "gpufluid" if base.is_absolute() else None


def file_of(driver: dict[str, str]) -> Path | None:
    """Where the choice for `driver` is kept; see `gpufluid.gl.trial.driver_of`."""
    folder = cache_folder()
    name = hashlib.sha256(json.dumps(driver, sort_keys=True).encode()).hexdigest()[:16]
    return None if folder is None else folder / f"way-{name}.json"


def read(file: Path, driver: dict[str, str]) -> Kept | None:
    """Return what `file` keeps for `driver`; None where there is no file. Raises ValueError for a bad one."""
    try:
        with open_plain(file, LONGEST) as opened:
            raw = opened.read(LONGEST)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ValueError(f"{getattr(error, 'strerror', None) or error}") from None
    try:
        told = json.loads(raw)
        if any(told[name] != value for name, value in driver.items()):
            raise ValueError("it is of another driver")
        when = datetime.fromisoformat(told["when"])
        if when.tzinfo is None:  # nor does Windows know its own for times before 1970
            raise ValueError("its time has no zone")
        when = when.astimezone(timezone.utc)
        taken = [{name: float(told[race][name]) for name in WAYS if name in told[race]} for race in RACES]
        wrong = tuple(name for name in WAYS if name in told["wrong"])
        kept = Kept(WAYS[told["way"]], WAYS[told["rule"]], when, taken[0], taken[1], taken[2], wrong)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"it is not what a trial wrote ({type(error).__name__})") from None
    if not all(math.isfinite(each) and each >= 0.0 for of_race in taken for each in of_race.values()):
        raise ValueError("its times are no times")
    return kept


def keep(file: Path, driver: dict[str, str], kept: Kept, anew: bool = False) -> None:
    """Write `kept` to `file`, whole; where another process was first, its stays, unless `anew`.

    Raises OSError or GpufluidError where the disk refuses.
    """
    told: dict[str, Any] = {
        **driver,
        "way": str(kept.way),
        "rule": str(kept.rule),
        "when": kept.when.isoformat(timespec="seconds"),
        "wrong": kept.wrong,
    }
    told |= {race: {name: round(ms, 4) for name, ms in getattr(kept, race).items()} for race in RACES}
    text = json.dumps(told, indent=1) + "\n"
    if anew:
        if file.is_fifo():  # it has our name, and holds nothing
            file.unlink()
        with whole_file(file, overwrite=True) as partial:
            partial.write_text(text, encoding="utf-8")
    else:
        first_file(file, text)


def check_folder(file: Path) -> None:
    """Make the folder of `file`. Raises OSError where nothing can be written in it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.is_dir():
        raise IsADirectoryError(21, "it is a folder", str(file))
    tried = partial_path(file)
    tried.write_bytes(b"")
    tried.unlink()
