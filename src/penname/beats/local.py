"""The ``local`` annotator: a llama.cpp server on loopback, started and stopped by Penname (extra ``gen``)."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penname.core.cache import cache_folder
from penname.core.config import BeatsConfig
from penname.core.errors import BadInput
from penname.core.progress import say
from penname.core.workers import core_count

_PROMPT_TOKENS = 1100  # the rules, three examples, and a refused answer with its reason
_TOKENS_PER_WORD = 2  # of a passage; English prose takes about 1.4


def gguf_path(settings: BeatsConfig) -> Path:
    """The GGUF file to serve: ``beats.gguf``, or the one that staging smollm2-135m keeps. BadInput where it is not there."""
    if settings.gguf:
        path = Path(settings.gguf).expanduser()
        if not path.is_file():
            raise BadInput(f"beats.gguf names {path}, and there is no such file")
        with path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise BadInput(f"{path} is no GGUF file")
        return path
    folder = cache_folder() / "carriers" / "smollm2-135m"
    found = sorted(folder.glob("*.gguf"))
    if not found:
        raise BadInput("the local annotator has no model: set beats.gguf to a GGUF file, or run: penname carrier stage smollm2-135m")
    return found[0]


def local_model(settings: BeatsConfig) -> str:
    """What the local model is called in the cache and in Beat.source: the file's name and size, without its folder."""
    path = gguf_path(settings)
    return f"{path.name}:{path.stat().st_size}"


@contextmanager
def serve_gguf(path: Path, settings: BeatsConfig, threads: int = 0) -> Iterator[tuple[str, str]]:
    """Serve a GGUF file on a free loopback port while the block runs, on ``threads`` cores (0: all); yields (base address, key)."""
    try:
        import xllamacpp
    except ImportError:
        raise BadInput('the local annotator needs the extra "gen": pip install "penname[gen]"') from None
    slots = min(settings.concurrency, core_count())
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = slots
    params.n_ctx = slots * (_PROMPT_TOKENS + _TOKENS_PER_WORD * settings.passage_words_max + settings.max_tokens)
    for pool in (params.cpuparams, params.cpuparams_batch):
        pool.n_threads = threads or core_count()
        pool.poll = 0  # waiting threads sleep: a machine that does other work as well would lose a core to each
    params.offline = True  # serve what is here; never fetch
    params.ui = False
    params.verbosity = 0
    key = secrets.token_hex(16)  # so that no page in a browser on this machine can use the server
    params.api_keys = [key]
    say(f"serving {path.name} on this machine with llama.cpp, {slots} at once")
    try:
        server = xllamacpp.Server(params)
    except (RuntimeError, ValueError) as error:
        raise BadInput(f"llama.cpp could not load {path}: {error}") from None
    try:
        yield server.listening_address.rstrip("/") + "/v1", key
    finally:
        del server  # its destructor ends the server's threads
