"""The real llama.cpp server on loopback."""

from __future__ import annotations

import contextlib

import pytest


@contextlib.contextmanager
def llama_cpp(base, *adapters, n_ctx=512):
    """The address of a llama.cpp server with the base GGUF and LoRA GGUFs 0, 1, ..."""
    xllamacpp = pytest.importorskip("xllamacpp", reason="the extra gen (xllamacpp) is not installed")
    params = xllamacpp.CommonParams()
    params.model.path = str(base)
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_ctx, params.n_parallel, params.offline, params.ui, params.verbosity = n_ctx, 1, True, False, 0
    # One thread: its workers spin while they wait for each other, which is slow where the cores are busy.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    loaded = []
    for path in adapters:
        info = xllamacpp.CommonAdapterLoraInfo()
        info.path, info.scale = str(path), 0.0
        loaded.append(info)
    params.lora_adapters = loaded
    server = xllamacpp.Server(params)
    try:
        yield server.listening_address
    finally:
        del server
