"""Files that are there whole or not at all, and files of others, read with suspicion."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from time import monotonic, sleep
from typing import BinaryIO
from uuid import uuid4

from gpufluid.common.errors import GpufluidError

REMEDY = "choose another name, or allow it with --overwrite (overwrite=True in Python)"
LONGEST = 255  # bytes of a file's name, on most disks
HELD, AGAIN = 1.0, 0.02  # s: for how long, and how often, it is tried to replace a file that is held open

_partial: set[Path] = set()  # files that are being written
_numbers = count()


def abandon() -> None:
    """Remove what is half written, by other threads too, before the process ends in the middle of it."""
    for path in list(_partial):
        with suppress(OSError):
            path.unlink(missing_ok=True)


def own_folder(name: str) -> Path:
    """A folder of the engine's own: in the installed package, else beside it in a checkout.

    Raises GpufluidError where it is missing, as it is for a program in a zip file.
    """
    package = Path(__file__).resolve().parent.parent
    for folder in (package / name, package.parent / name):
        if folder.is_dir():
            return folder
    packed = next((folder for folder in package.parents if folder.is_file()), None)
    if packed is not None:
        raise GpufluidError(f"gpufluid cannot run inside {packed}: unpack it, or install it by pip")
    raise GpufluidError(f"gpufluid's folder {name!r} is missing: no {package / name}")


def partial_path(path: Path) -> Path:
    """Return a name beside `path` that nobody else has, to write under until the file is whole.

    It keeps the suffix, so that what a crash leaves under it can still be opened, and of a long name the
    beginning.
    """
    stem, rest = path.stem, f".partial-{os.getpid()}-{next(_numbers)}{path.suffix}"
    while stem and len(os.fsencode(stem + rest)) > LONGEST:
        stem = stem[:-1]
    return path.with_name(stem + rest)


def named_file(path: str | os.PathLike[str], suffixes: tuple[str, ...] = ()) -> Path:
    """Return `path` as a Path; raises GpufluidError for no name, or another ending than `suffixes`."""
    try:
        text = os.fspath(path)
    except TypeError:
        raise GpufluidError(f"a path must be a file name, got {path!r}") from None
    if not isinstance(text, str) or not text or "\0" in text:
        raise GpufluidError(f"a path must be a file name, got {text!r}")
    if text == "-":
        raise GpufluidError('"-" is no file name: nothing goes to standard output; name a file or folder')
    if suffixes and Path(text).suffix.lower() not in suffixes:
        raise GpufluidError(f"{text}: the name must end in {' or '.join(suffixes)}")
    return Path(text)


def readable(name: str) -> str:
    """The name of a file as any text can hold it: a byte that is of no letter becomes one that says so.

    In a locale without letters beyond ASCII, whose names Python holds as bytes, they are taken for UTF-8.
    """
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def check_file(path: str | os.PathLike[str], overwrite: bool = False, suffixes: tuple[str, ...] = ()) -> Path:
    """Return `path` as a Path under which a file may be written.

    Raises GpufluidError for a name with another ending, a folder, a folder that is missing, a device or a
    pipe, and a file that exists, unless `overwrite`.
    """
    target = named_file(path, suffixes)
    try:
        check_name(target)
        if target.is_dir():
            inside = target / f"out{target.suffix}"
            raise GpufluidError(f"{target}: is a folder; name a file in it ({inside})")
        if not overwrite and (target.exists() or target.is_symlink()):
            raise GpufluidError(f"{target}: exists already; {REMEDY}")
        if target.exists() and not target.is_file():
            raise GpufluidError(f"{target}: is no plain file, but a pipe or a device; choose another name")
        check_parent(target, target.parent)
    except OSError as error:
        raise GpufluidError(f"{target}: could not be written: {error.strerror or error}") from error
    return target


def check_name(target: Path) -> None:
    """Raise OSError for a name that no file can have, as one that is too long.

    `exists` and `is_dir` take it for one that is free from Python 3.14 on.
    """
    with suppress(FileNotFoundError, NotADirectoryError):
        target.lstat()


def check_parent(target: Path, folder: Path) -> None:
    """Raise GpufluidError where `folder`, in which `target` is to be made, is none."""
    if not folder.exists():
        raise GpufluidError(f"{target}: the folder {folder} does not exist; make it first")
    if not folder.is_dir():
        raise GpufluidError(f"{target}: {folder} is not a folder")


def try_folder(folder: Path) -> None:
    """Raise OSError where no file can be made in `folder`: of permissions and disks only trying tells.

    tempfile would not do: on Windows it takes a refusal for a name that is taken, and tries others for ever.
    """
    tried = folder / f".gpufluid-{uuid4().hex}"
    os.close(os.open(tried, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    tried.unlink(missing_ok=True)


def replace_file(partial: Path, target: Path) -> None:
    """Give the file `partial` the name `target`, whatever has that now. Raises OSError."""
    _patiently(lambda: partial.replace(target))


def remove_file(path: Path) -> None:
    """Remove the file `path`, if it is there. Raises OSError."""
    _patiently(lambda: path.unlink(missing_ok=True))


def _patiently(change: Callable[[], object]) -> None:
    """Do what Windows does not where another program has the file open: there it is tried for HELD seconds.

    What looks for viruses or for words in new files has them open for a moment.
    """
    end = monotonic() + HELD
    while True:
        try:
            change()
            return
        except PermissionError:
            if sys.platform != "win32" or monotonic() > end:
                raise
            sleep(AGAIN)


@contextmanager
def whole_file(
    path: str | os.PathLike[str], overwrite: bool = False, suffixes: tuple[str, ...] = ()
) -> Iterator[Path]:
    """Yield the partial name to write a file under, which becomes `path` when the body ends.

    Where the body raises, on Ctrl-C too, the partial file is removed and a file of that name before stays.
    Raises GpufluidError as `check_file` does, and for what the disk refuses.
    """
    target = check_file(path, overwrite, suffixes)
    partial = partial_path(target)
    try:
        _partial.add(partial)
        try:
            yield partial
            replace_file(partial, target)
        finally:
            _partial.discard(partial)
            remove_file(partial)
    except OSError as error:
        raise GpufluidError(f"{target}: could not be written: {error.strerror or error}") from error


def first_file(path: Path, text: str) -> None:
    """Write `text` to `path`, whole, unless it is there: of processes that write at once the first stays.

    Raises OSError for what the disk refuses.
    """
    partial = partial_path(path)
    _partial.add(partial)
    try:
        partial.write_text(text, encoding="utf-8")
        try:
            os.link(partial, path)
        except FileExistsError:
            return
        except (OSError, AttributeError):  # a disk, or a system, without links
            if not path.exists():
                replace_file(partial, path)
    finally:
        _partial.discard(partial)
        remove_file(partial)


def open_plain(path: Path, most: int | None = None) -> BinaryIO:
    """Open a file to read its bytes. Raises OSError for what is no plain file, or is over `most` bytes long.

    A folder has none; a pipe may make who opens it wait for ever, and a device never end.
    """
    waits_not = getattr(os, "O_NONBLOCK", 0)  # not even in opening a pipe; plain files know no difference
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | waits_not))  # noqa: SIM115
    try:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is no plain file, but a pipe or a device")
        if most is not None and found.st_size > most:
            raise OSError(errno.EFBIG, f"it has {found.st_size} bytes, and the limit is {most}")
    except BaseException:
        file.close()
        raise
    return file
