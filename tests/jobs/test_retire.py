"""The RETIRED line: once, and in nothing that a person or another folder owns."""

from __future__ import annotations

from pathlib import Path

from penname.jobs.retire import retire_mentions

STEP = Path("runs/r/checkpoints/step-000050")
LINE = f"# RETIRED by penname purge: {STEP} is gone\n"


def test_a_path_is_retired_once_and_in_no_file_of_a_person(tmp_path):
    voice, text = tmp_path / "voice", f"serve {STEP}\n"
    for name in ("serve.sh", "sweep.toml", "exports/r/gguf/Modelfile", "voice.toml", "cast/decisions.toml", "notes.txt"):
        (voice / name).parent.mkdir(parents=True, exist_ok=True)
        (voice / name).write_text(text)
    (tmp_path / "shared.sh").write_text(text)
    (voice / "linked.sh").symlink_to(tmp_path / "shared.sh")
    (voice / "large.sh").write_text(text + "#" * 1_000_000)
    before = {path: path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    changed = [Path("exports/r/gguf/Modelfile"), Path("serve.sh"), Path("sweep.toml")]
    assert sorted(retire_mentions(voice, [STEP])) == changed
    assert retire_mentions(voice, [STEP]) == []
    after = {path: path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    assert after == before | {voice / name: LINE + text for name in changed}
