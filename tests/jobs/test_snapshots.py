"""Space that a purge did not get back: which snapshots may hold it, asked of the filesystem's own tool."""

from __future__ import annotations

import pytest

from penname.jobs.archive import archive_runs
from penname.jobs.mounts import Mount
from penname.jobs.purging import look, purge
from penname.jobs.snapshots import snapshots_holding


def listed(kind):
    return [Mount("8:1", "/", "/", kind, "pool/home")]


def test_snapshots_are_named_by_the_filesystems_own_tool(tmp_path, monkeypatch, tool):
    tool("btrfs", 'echo "ID 256 gen 10 cgen 10 top level 5 otime 2026-01-01 00:00:00 path snaps/daily path"; echo nothing')
    tool("zfs", 'echo "$@" | sed "s/.*-r //; s/$/@daily/"')
    for kind, names in (("btrfs", ["snaps/daily path"]), ("zfs", ["pool/home@daily"]), ("ext4", [])):
        monkeypatch.setattr("penname.jobs.snapshots.mounts", lambda kind=kind: listed(kind))
        assert snapshots_holding(tmp_path) == names
    monkeypatch.setattr("penname.jobs.snapshots.mounts", list)
    assert snapshots_holding(tmp_path) == []


def test_a_tool_that_fails_or_is_not_there_names_none(tmp_path, monkeypatch, tool):
    monkeypatch.setattr("penname.jobs.snapshots.mounts", lambda: listed("zfs"))
    tool("zfs", "echo pool/home@daily; exit 1")
    assert snapshots_holding(tmp_path) == []
    monkeypatch.setenv("PATH", "/nowhere")
    assert snapshots_holding(tmp_path) == []


@pytest.mark.parametrize(("free", "told"), [([0, 0], ["daily"]), ([0, 10**9], [])])
def test_a_purge_that_got_too_little_back_names_them(voice, tmp_path, monkeypatch, free, told):
    archive_runs(voice, str(tmp_path / "second"))
    seen = iter(free)
    monkeypatch.setattr("penname.jobs.purge._free_bytes", lambda path: next(seen))
    monkeypatch.setattr("penname.jobs.purging.snapshots_holding", lambda path: ["daily"])
    assert purge(voice, look(voice)).snapshots == told
