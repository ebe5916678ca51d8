"""An OpenAI-compatible server on loopback that answers with every fault there is, drawn from a seed: ``python fault_server.py LOG ...``.

Each line of the log is one request as JSON: passage index, kind of answer, seconds of service, and whether it was answered in full.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from synthetic import good_line, index_in, paragraph

from penname.core.rng import CounterRng

ANSWERED = ("good", "think", "closed-think", "fence", "list", "quotes", "preamble", "json")
REFUSED = {
    "empty": "",
    "refusal": "I'm sorry, but I can't help with that.",
    "meta": "The passage describes Tom and a key.",
    "long": "Tom " + "slowly and carefully " * 8 + "hides the key.",
    "name": "Rodolphus hides the key from Ann.",
    "lower": "tom hides the key and ann looks for it.",
    "language": "Il cache la clé dans une boîte et elle ne la trouve pas avec les autres.",
    "script": "Он прячет ключ от неё под столом.",
    "lines": "Tom hides the key from Ann.\nThen he walks away to the harbour.",
}
TRANSPORT = ("429", "429-date", "500", "503", "hang", "drop", "garbage", "no-choices")
EVERY_FAULT = (
    *ANSWERED[1:],
    *REFUSED,
    "think-cut",
    "thought-only",
    "thought-only-2",
    "truncated",
    "copied",
    "repeat",
    "filtered",
    *TRANSPORT,
)


class FaultServer:
    """Draws what to answer from (seed, passage, how often it was asked)."""

    def __init__(self, log: Path, seed: int, fault_share: float, latency_seconds: float, hang_seconds: float, api: str) -> None:
        self.log = log.open("a", encoding="utf-8")
        self.seed, self.fault_share, self.latency, self.hang, self.api = seed, fault_share, latency_seconds, hang_seconds, api
        self.asked: dict[int, int] = {}

    def kind(self, index: int, nth: int) -> str:
        """The kind of answer."""
        rng = CounterRng(self.seed, "fault", index, nth)
        return rng.choice(EVERY_FAULT) if rng.random() < self.fault_share else "good"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, kept alive."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
                await self.reply(json.loads(await reader.readexactly(length)), writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def reply(self, request: dict, writer: asyncio.StreamWriter) -> None:
        """Answer one request, or do what a bad server does instead."""
        started = time.monotonic()
        index = index_in(request["prompt"] if self.api == "completion" else request["messages"][-1]["content"] + last_prose(request))
        nth = self.asked.get(index, 0)
        self.asked[index] = nth + 1
        kind = self.kind(index, nth)
        await asyncio.sleep(self.latency * (0.5 + CounterRng(self.seed, "latency", index, nth).random()) if kind != "hang" else self.hang)
        answered = kind not in TRANSPORT
        try:
            await self.send(kind, index, nth, writer)
        except ConnectionError:
            answered = False
        entry = {"at": started, "index": index, "kind": kind, "seconds": time.monotonic() - started, "answered": answered}
        self.log.write(json.dumps(entry) + "\n")
        self.log.flush()

    async def send(self, kind: str, index: int, nth: int, writer: asyncio.StreamWriter) -> None:
        """The bytes of an answer."""
        if kind == "drop":
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{")
            await writer.drain()
            raise ConnectionResetError
        if kind in ("429", "429-date", "500", "503", "hang"):
            headers = {"429": "retry-after: 0.2\r\n", "429-date": "retry-after: Wed, 21 Oct 2015 07:28:00 GMT\r\n"}.get(kind, "")
            await _write(writer, int(kind[:3]) if kind[0].isdigit() else 504, {"error": {"message": f"{kind} today"}}, headers)
        elif kind == "garbage":
            await _write(writer, 200, "<html>a proxy's error page</html>")
        elif kind == "no-choices":
            await _write(writer, 200, {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": []})
        else:
            await _write(writer, 200, self.body(kind, index, nth))

    def body(self, kind: str, index: int, nth: int) -> dict:
        """A response in the format of the API."""
        line = good_line(index, nth)
        content, extra, finish = line, {}, "stop"
        if kind in REFUSED:
            content = REFUSED[kind]
        elif kind in ("truncated", "think-cut", "filtered"):
            content, finish = {
                "truncated": ("Tom hides the", "length"),
                "think-cut": ("<think>Let me see,", "length"),
                "filtered": ("", "content_filter"),
            }[kind]
        elif kind.startswith("thought-only"):
            content, extra = (
                None if kind.endswith("2") else "",
                {"reasoning" if kind.endswith("2") else "reasoning_content": "Let me think."},
            )
        else:
            content = {
                "think": f"<think>\nTom, Ann.\n</think>\n\n{line}",
                "closed-think": f"Tom, Ann.\n</think>\n{line}",
                "fence": f"```text\n{line}\n```",
                "list": f"1. {line}\n2. Ann waits.\n3. Nobody sees it.",
                "quotes": f"“{line}”",
                "preamble": f"Sure! Here is a beat for this passage:\n\n{line}",
                "json": json.dumps({"beat": line}),
                "copied": " ".join(paragraph(index).split()[:9]) + ".",
                "repeat": good_line(index - 1 if index else 0, 0),
            }.get(kind, line)
        usage = {"prompt_tokens": 700, "completion_tokens": 20, "total_tokens": 720}
        if self.api == "completion":
            choice = {"index": 0, "text": content or "", "finish_reason": finish}
            return {"id": "x", "object": "text_completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}
        choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **extra}}
        return {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}


def last_prose(request: dict) -> str:
    """The last message that holds prose: a question asked again stands after a refused answer."""
    return next(m["content"] for m in reversed(request["messages"]) if "----------" in m["content"])


async def _write(writer: asyncio.StreamWriter, status: int, body: dict | str, headers: str = "") -> None:
    data = (body if isinstance(body, str) else json.dumps(body)).encode()
    head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n{headers}\r\n"
    writer.write(head.encode() + data)
    await writer.drain()


async def main() -> None:
    """Serve until killed; the first line of stdout is the port."""
    parser = argparse.ArgumentParser()
    parser.add_argument("log", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", type=float, default=0.4)
    parser.add_argument("--latency", type=float, default=0.02)
    parser.add_argument("--hang", type=float, default=60.0)
    parser.add_argument("--api", default="chat")
    args = parser.parse_args()
    faults = FaultServer(args.log, args.seed, args.faults, args.latency, args.hang, args.api)
    server = await asyncio.start_server(faults.serve, "127.0.0.1", 0, limit=1 << 22)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
