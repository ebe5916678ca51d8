"""The table of DESIGN: which room may import which, and that torch stays where it belongs."""

from __future__ import annotations

import ast
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import penname

SOURCE = Path(penname.__file__).parent
MAY_IMPORT = {
    "core": set(),
    "books": {"core"},
    "cast": {"core"},
    "renaming": {"core"},
    "beats": {"core"},
    "carriers": {"core"},
    "shards": {"core", "carriers"},
    "training": {"core", "carriers"},
    "judging": {"core", "carriers"},
    "serving": {"core", "carriers"},
    "jobs": {"core"},
    "pages": {"core", "renaming"},
    "voice": {"core", "books", "cast", "renaming", "beats", "carriers", "shards", "training", "judging", "serving", "jobs", "pages"},
    "cli": {"core", "books", "cast", "renaming", "beats", "carriers", "shards", "training", "judging", "serving", "jobs", "pages", "voice"},
}
TORCH_ROOMS = {"carriers", "training", "judging", "serving"}


def imports(path: Path) -> set[str]:
    """Every module name that a file imports, at any depth of nesting."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def violations(path: Path, room: str) -> list[str]:
    found = []
    for name in sorted(imports(path)):
        parts = name.split(".")
        if parts[0] == "torch" and room not in TORCH_ROOMS:
            found.append(f"{room}/{path.name} imports torch")
        if parts[0] == "penname" and len(parts) > 1 and (SOURCE / parts[1]).is_dir() and parts[1] not in MAY_IMPORT[room] | {room}:
            found.append(f"{room}/{path.name} imports {name}")
    return found


@pytest.mark.parametrize("room", sorted(MAY_IMPORT))
def test_room_imports_only_what_its_row_names(room):
    found = [line for path in sorted((SOURCE / room).rglob("*.py")) for line in violations(path, room)]
    assert found == []


def test_every_room_has_a_row():
    assert {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"} == set(MAY_IMPORT)


def test_the_rule_fires(tmp_path):
    file = tmp_path / "bad.py"
    file.write_text("def f():\n    import torch\n    from penname.cast import build_cast\n")
    assert violations(file, "books") == [
        "books/bad.py imports penname.cast",
        "books/bad.py imports penname.cast.build_cast",
        "books/bad.py imports torch",
    ]


def test_help_imports_no_heavy_module_and_is_quick():
    code = "import sys; sys.argv=['penname','--help']\nfrom penname.cli.app import main\ntry: main()\nexcept SystemExit: pass\n"
    code += "print([m for m in ('torch','pydantic','numpy','transformers','openai') if m in sys.modules], file=sys.stderr)"
    seconds = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert done.stderr.strip() == "[]"
    assert "Usage: penname" in done.stdout
    # Processor time, which other work on the machine leaves about as it is: an idle machine answers within it.
    assert min(seconds) < 0.4
