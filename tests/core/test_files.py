"""Writing that survives a crash, and what is told of a file that cannot be read."""

from __future__ import annotations

import errno
import json
import os
from contextlib import nullcontext
from pathlib import Path

import pytest

from penname.core import files
from penname.core.errors import BadInput, PennameError


def test_write_leaves_the_old_file_when_the_disk_is_full(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    files.write_json(path, {"old": 1})

    def full(_fd):
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(PennameError, match=r"the disk is full.*untouched.*free some space"):
        files.write_json(path, {"new": 2})
    assert json.loads(path.read_text()) == {"old": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_a_file_is_whole_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    path, synced = tmp_path / "new" / "folder" / "a.json", []

    def note(handle):
        synced.append((Path(f"/proc/self/fd/{handle}").readlink().name[:7], os.fstat(handle).st_size, path.exists()))

    monkeypatch.setattr(files.os, "fsync", note)
    files.write_bytes(path, b"12345")
    (aside, size, named), (folder, _, named_then) = synced
    assert (aside, size, named) == (".a.json", 5, False)
    assert (folder, named_then) == ("folder", True)  # and then that it has it


def test_a_write_that_is_interrupted_leaves_nothing(tmp_path, monkeypatch):
    def interrupt(_handle):
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        files.write_bytes(tmp_path / "a.json", b"1")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("number", "raised"), [(errno.EINVAL, False), (errno.ENOTSUP, False), (errno.EIO, True)])
def test_a_folder_that_cannot_be_synced_counts_only_where_syncing_is_possible(tmp_path, monkeypatch, number, raised):
    def refuse(_handle):
        raise OSError(number, "no")

    monkeypatch.setattr(files.os, "fsync", refuse)
    with pytest.raises(OSError, match="no") if raised else nullcontext():
        files.sync_folder(tmp_path)


def test_a_file_that_is_replaced_keeps_who_may_read_and_run_it(tmp_path):
    for mode in (0o600, 0o755):
        path = tmp_path / "start.sh"
        path.write_text("old")
        path.chmod(mode)
        files.write_text(path, "new")
        assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", mode)
    files.write_text(tmp_path / "fresh", "")
    assert (tmp_path / "fresh").stat().st_mode & 0o777 == 0o644


def test_jsonl_keeps_unicode_line_separators(tmp_path):
    path = tmp_path / "rows.jsonl"
    files.write_text(path, files.jsonl_text([{"t": "a\u2028b"}, {"t": "c\x85d"}]))
    assert list(files.read_jsonl(path)) == [{"t": "a\u2028b"}, {"t": "c\x85d"}]


def test_jsonl_that_is_being_written_ends_before_its_open_line(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1}\n{"step": 2}\n{"st')
    assert list(files.read_jsonl(path, growing=True)) == [{"step": 1}, {"step": 2}]
    with pytest.raises(BadInput, match="line 3, is not JSON"):
        list(files.read_jsonl(path))


def test_bad_json_says_where(tmp_path):
    (tmp_path / "x.json").write_text("{\n\n oops")
    with pytest.raises(BadInput, match=r"x\.json is not JSON: .* at line 3"):
        files.read_json(tmp_path / "x.json")
    (tmp_path / "x.json").write_text("[1]")
    with pytest.raises(BadInput, match=r"x\.json holds no JSON object; .* penname check names the verb"):
        files.read_json(tmp_path / "x.json")
