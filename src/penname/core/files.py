"""Writing that survives a crash: aside, synced, renamed. A reader sees the old file or the new one, never a part."""

from __future__ import annotations

import errno
import json
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from penname.core.errors import BadInput, PennameError

_AGAIN = "where Penname wrote it, penname check names the verb that makes it again"


def write_bytes(path: Path, data: bytes) -> None:
    """Replace ``path`` by ``data`` in one step; who may read or run it stays as it was.

    Raises PennameError when the disk is full or read-only; the old file stays.
    """
    try:
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o644
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, aside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:80]}.")
    except OSError as error:
        raise disk_error(error, path) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(aside).chmod(mode)
        Path(aside).replace(path)
    except OSError as error:
        Path(aside).unlink(missing_ok=True)
        raise disk_error(error, path) from error
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def write_text(path: Path, text: str) -> None:
    """UTF-8, newlines as they are."""
    write_bytes(path, text.encode("utf-8"))


def json_text(value: Any) -> str:
    """Indented JSON with a final newline; keys keep their order."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def jsonl_text(rows: Iterable[Any]) -> str:
    """One JSON value a line."""
    return "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)


def write_json(path: Path, value: Any) -> None:
    """Replace ``path`` by indented JSON."""
    write_text(path, json_text(value))


def read_text(path: Path) -> str:
    """UTF-8 text with its newlines untouched."""
    try:
        return path.read_bytes().decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise BadInput(f"there is no file {path}") from None
    except IsADirectoryError:
        raise BadInput(f"{path} is a folder, and a file is wanted there; name a file, or move away what took its place") from None
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8, or make it again where Penname wrote it"
        ) from None


class Record(dict[str, Any]):
    """An object of a JSON file: asked for a key that it lacks, it says which file is damaged. ``get`` and ``in`` are a dict's."""

    __slots__ = ("path",)

    def __init__(self, values: Mapping[str, Any] | Iterable[tuple[str, Any]], path: Path | None = None) -> None:
        super().__init__(values)
        self.path = path or Path("a file of this voice")  # copied by dataclasses.asdict, which knows no path

    def __missing__(self, key: str) -> Any:
        """BadInput: the file was written by another version, or is not what was written."""
        raise BadInput(f'{self.path} has no "{key}"; {_AGAIN}')


def read_json(path: Path) -> Any:
    """The object in a JSON file, every object in it a Record; BadInput with the place where it does not parse."""
    try:
        value = json.loads(read_text(path), object_hook=lambda values: Record(values, path))
    except json.JSONDecodeError as error:
        raise BadInput(f"{path} is not JSON: {error.msg} at line {error.lineno}; {_AGAIN}") from None
    if not isinstance(value, dict):
        raise BadInput(f"{path} holds no JSON object; {_AGAIN}")
    return value


def read_jsonl(path: Path, *, growing: bool = False) -> Iterator[Any]:
    """The objects of a JSONL file, line by line; BadInput for a line that does not parse or is no object.

    ``growing``: something writes it now, or was killed as it did, so such a line is the last and is left out.
    """
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            try:
                value = json.loads(line, object_hook=lambda values: Record(values, path))
            except json.JSONDecodeError as error:
                if growing:
                    return
                raise BadInput(f"{path}, line {number}, is not JSON: {error.msg}; {_AGAIN}") from None
            if not isinstance(value, dict):
                raise BadInput(f"{path}, line {number}, holds no JSON object; {_AGAIN}")
            yield value


def sync_file(path: Path) -> None:
    """Make what was written to ``path`` durable."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Make renames in ``folder`` durable, where the platform can sync a folder."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


def disk_error(error: OSError, path: Path) -> PennameError:
    """An OSError while writing ``path`` as one sentence."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return PennameError(
            f"the disk is full: {path} was not written and what was there before is untouched; free some space and run again"
        )
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return PennameError(f"{path} cannot be written ({os.strerror(error.errno or 0)}); make its folder writable and run again")
    if error.errno in (errno.EEXIST, errno.ENOTDIR, errno.EISDIR):
        return PennameError(f"{path} cannot be written: a file stands where a folder is wanted, or a folder where a file is; move it away")
    return PennameError(f"{path} was not written: {error}")
