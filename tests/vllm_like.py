"""A loopback server that answers as vLLM's completions do, on a tiny torch model: its models, its errors, token ids, a LoRA by name.

As the real one, it drops LoRA matrices whose module it does not have, and says nothing of it (vllm/lora/lora_model.py looks at the
last part of a name only).
"""

from __future__ import annotations

import contextlib
import json
import threading
import time

import torch
import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

from penname.carriers.generation import choose
from penname.carriers.loading import load_model
from penname.carriers.tokenizer import load_tokenizer
from penname.core.rng import CounterRng
from penname.serving.adapter import adapter_tensors
from penname.serving.pens import Unfolding

BASE, VOICE = "org/base", "voice"


class VllmLike:
    """The application; ``asked`` holds the bodies of all completions."""

    def __init__(self, carrier, adapter, token_ids=True):
        self.tokenizer = load_tokenizer(carrier)
        self.models = {BASE: load_model(carrier), VOICE: load_model(carrier)}
        self.token_ids = token_ids
        self.asked = []
        state = dict(self.models[VOICE].named_parameters())
        for module, (a, b) in adapter_tensors(adapter).items():
            if f"{module}.weight" in state:
                state[f"{module}.weight"].data += adapter.scaling * (b @ a)
        self.app = Starlette(
            routes=[Route("/v1/models", self.list_models), Route("/v1/completions", self.complete, methods=["POST"])],
        )

    async def list_models(self, request):
        rows = [{"id": BASE, "object": "model", "owned_by": "vllm", "root": BASE, "parent": None, "max_model_len": 256}]
        rows.append({"id": VOICE, "object": "model", "owned_by": "vllm", "root": "exports/adapter", "parent": BASE})
        return JSONResponse({"object": "list", "data": rows})

    async def complete(self, request):
        body = await request.json()
        self.asked.append(body)
        if body["model"] not in self.models:
            return _error(404, f"The model `{body['model']}` does not exist.")
        if not all(isinstance(i, int) for i in body["prompt"]):
            return _error(400, "prompt is not a list of token ids")
        if (body.get("logprobs") or 0) > 20:
            return _error(400, f"Requested sample logprobs of {body['logprobs']}, which is greater than max allowed: 20")
        written = self._write(body)
        if body.get("stream"):
            return StreamingResponse(self._chunks(body, written), media_type="text/event-stream")
        token, row = next(written)
        top = row.topk(body["logprobs"])
        named = {i: p for i, p in zip(top.indices.tolist(), top.values.tolist(), strict=True)} | {token: float(row[token])}
        spelled = {self._name(i, body): p for i, p in named.items()}
        logprobs = {"text_offset": [0], "token_logprobs": [named[token]], "tokens": [self._name(token, body)], "top_logprobs": [spelled]}
        choice = {"index": 0, "text": self.tokenizer.decode([token]), "logprobs": logprobs, "finish_reason": "length"}
        return JSONResponse({"id": "cmpl-1", "object": "text_completion", "model": body["model"], "choices": [choice]})

    def _name(self, token, body):
        return f"token_id:{token}" if self.token_ids and body.get("return_tokens_as_token_ids") else self.tokenizer.decode([token])

    def _write(self, body):
        ids = list(body["prompt"])
        draw = CounterRng(body.get("seed"), "vllm")
        for _ in range(body["max_tokens"]):
            with torch.inference_mode():
                row = self.models[body["model"]](input_ids=torch.tensor([ids]), use_cache=False).logits[0, -1].float().log_softmax(-1)
            uniform = torch.tensor([draw.random()], dtype=torch.float64)
            token = int(choose(row[None], uniform, body["temperature"], body.get("top_p", 1.0))[0])
            yield token, row
            ids.append(token)
            if token in body.get("stop_token_ids", []):
                return

    def _chunks(self, body, written):
        text = Unfolding(self.tokenizer)
        for token, _ in written:
            stopped = token in body["stop_token_ids"]
            new = text.rest() if stopped else text.add([token])
            choice = {"index": 0, "text": new, "logprobs": None, "finish_reason": "stop" if stopped else None}
            yield f"data: {json.dumps({'id': 'cmpl-1', 'object': 'text_completion', 'choices': [choice]})}\n\n"
        yield "data: [DONE]\n\n"


def _error(status, message):
    return JSONResponse({"error": {"message": message, "type": "BadRequestError", "param": None, "code": status}}, status)


@contextlib.contextmanager
def served(app):
    """The address of an application on loopback."""
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
