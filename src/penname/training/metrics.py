"""metrics.jsonl, one line a step and one a held-out evaluation; and, by setting, a tracker beside it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from penname.core.errors import BadInput
from penname.core.files import disk_error, jsonl_text, read_jsonl, write_text


class MetricsLog:
    """Appends to ``metrics.jsonl``. On resume, lines after the checkpoint's step are dropped first: those steps are made again."""

    def __init__(self, path: Path, step: int, track: str = "none", *, active: bool = True) -> None:
        self._path, self._active = path, active
        self._tracker = _tracker(track, path.parent)
        if active:
            before = read_jsonl(path, growing=True) if step and path.exists() else ()
            write_text(path, jsonl_text(row for row in before if row["step"] <= step))

    def __enter__(self) -> MetricsLog:
        self._file = self._path.open("a", encoding="utf-8") if self._active else None
        return self

    def __exit__(self, *_: object) -> None:
        if self._file:
            with suppress(OSError):  # every line was flushed when it was written
                self._file.close()
        if self._tracker:
            self._tracker.close()

    def step(
        self, step: int, loss: float, trained_tokens: int, tokens: int, learning_rate: float, grad_norm: float, seconds: float
    ) -> None:
        """One optimizer step; ``loss`` is the mean over its learned tokens, before the step."""
        self._write(
            {
                "step": step,
                "loss": round(loss, 6),
                "trained_tokens": trained_tokens,
                "tokens": tokens,
                "learning_rate": learning_rate,
                "grad_norm": round(grad_norm, 6),
                "seconds": round(seconds, 4),
            }
        )

    def heldout(self, step: int, loss: float) -> None:
        """The held-out loss after a step."""
        self._write({"step": step, "heldout_loss": round(loss, 6)})

    def _write(self, row: dict[str, Any]) -> None:
        if self._file:
            try:
                self._file.write(jsonl_text([row]))
                self._file.flush()
            except OSError as error:
                raise disk_error(error, self._path) from error
        if self._tracker:
            self._tracker.log(row)


class _TensorBoard:
    def __init__(self, folder: Path) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(folder / "tensorboard")

    def log(self, row: dict[str, Any]) -> None:
        for key, value in row.items():
            if key != "step":
                self._writer.add_scalar(key, value, row["step"])

    def close(self) -> None:
        self._writer.close()


class _Trackio:
    def __init__(self, folder: Path) -> None:
        import trackio

        trackio.init(project=folder.parent.parent.resolve().name, name=folder.name)
        self._trackio = trackio

    def log(self, row: dict[str, Any]) -> None:
        self._trackio.log({key: value for key, value in row.items() if key != "step"}, step=row["step"])

    def close(self) -> None:
        self._trackio.finish()


def _tracker(name: str, folder: Path) -> _TensorBoard | _Trackio | None:
    if name == "none":
        return None
    try:
        return _TensorBoard(folder) if name == "tensorboard" else _Trackio(folder)
    except ImportError:
        package = "tensorboard" if name == "tensorboard" else "trackio"
        raise BadInput(f'training.track = "{name}" needs the package {package}; install it, or set training.track = "none"') from None
