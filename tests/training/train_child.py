"""Trains the voice of argv[1], for tests that kill it. argv[2:] are overrides; SLOW=seconds sleeps inside every write of a checkpoint."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from penname.core.errors import PennameError
from penname.core.folder import open_voice
from penname.training import checkpoint
from penname.training.run import train_run


def main() -> int:
    slow = float(os.environ.get("SLOW", "0"))
    if slow:
        kept = checkpoint._write_synced

        def slowly(path: Path, data: bytes) -> Any:
            kept(path, data[: len(data) // 2])
            time.sleep(slow)
            kept(path, data)

        checkpoint._write_synced = slowly
    voice = open_voice(Path(sys.argv[1]), sys.argv[2:])
    try:
        train_run(voice, 1, yes=True)
    except PennameError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
