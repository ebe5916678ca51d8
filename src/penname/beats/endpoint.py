"""The annotator behind any OpenAI-compatible server, chat or plain completion.

The key comes from the environment (OPENAI_API_KEY) and goes into request headers only: into no file, message or manifest.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from penname.beats.annotator import Answer, Ask, Refusal, Style
from penname.beats.answers import line_of
from penname.beats.inverse_prompt import chat_messages, completion_prompt
from penname.core.config import BeatsConfig
from penname.core.errors import BadInput, PennameError
from penname.core.progress import say
from penname.core.rng import CounterRng

TRIES = 8  # of one request against a server that is busy or down, over about a minute and a half
_FIRST_WAIT_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 30.0
_LONGEST_RETRY_AFTER_SECONDS = 600.0
_MAX_TOKENS_DOUBLINGS = 3
_COMPLETION_STOPS = ("\n", "----------")


class EndpointAnnotator:
    """One server and one model. At most ``concurrency`` requests are under way; whoever waits to ask again holds no place."""

    style: Style = "sentence"

    def __init__(self, base_url: str, key: str, settings: BeatsConfig, *, model: str, seeded: bool = False) -> None:
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient

        self.model = model
        self.base_url = base_url
        self._settings = settings
        self._key = key
        self._seeded = seeded  # llama.cpp takes a seed; some servers refuse the word
        self._places = asyncio.Semaphore(settings.concurrency)
        self._token_limit_name = "max_tokens"
        self._temperature: dict[str, float] = {"temperature": settings.temperature}
        self._busy_row = 0
        self._resume_at = 0.0
        self._client = AsyncOpenAI(
            api_key=key or "none",
            base_url=base_url,
            max_retries=0,  # waiting is done here, so that it holds no place
            timeout=settings.timeout_seconds,
            # No proxy from the environment between Penname and a server on this machine, and no redirect: the person agreed
            # to this host and no other.
            http_client=DefaultAsyncHttpxClient(
                trust_env=not is_loopback(base_url), follow_redirects=False, timeout=settings.timeout_seconds
            ),
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def answer(self, ask: Ask) -> Answer:
        """The server's line for a passage. BadInput for a wrong key, address or model, PennameError for a server that is down."""
        why = ""
        jitter = CounterRng("backoff", ask.passage.id, ask.attempt)
        for number in range(TRIES):
            async with self._places:
                await self._wait_while_busy()  # with a place in hand: whoever queued for one has not seen the refusals
                outcome = await self._request(ask)
            if isinstance(outcome, Answer):
                self._busy_row = 0
                return outcome
            why = self._clean(outcome.why)
            wait = outcome.retry_after or min(_LONGEST_WAIT_SECONDS, _FIRST_WAIT_SECONDS * 2**number) * (0.75 + jitter.random() / 2)
            if outcome.busy:
                self._note_busy(wait)
            if number < TRIES - 1:
                await asyncio.sleep(wait)
        raise PennameError(
            f"{host_of(self.base_url)} did not answer {TRIES} times in a row (last: {why}); "
            "what was answered is kept, run the same command again once it is back"
        )

    async def _request(self, ask: Ask) -> Answer | _Trouble:
        import openai

        truncated = sum(refusal.rule == "truncated" for _, refusal in ask.refused)
        limit = self._settings.max_tokens * 2 ** min(truncated, _MAX_TOKENS_DOUBLINGS)
        try:
            async with asyncio.timeout(self._settings.timeout_seconds):
                return self._answer(await self._send(ask, limit))
        except (TimeoutError, openai.APITimeoutError):
            return _Trouble(f"no answer in {self._settings.timeout_seconds:g} s")
        except openai.APIConnectionError as error:
            return _Trouble(f"no connection ({error.__cause__ or error})")
        except openai.APIStatusError as error:
            return self._status_trouble(error)
        except (openai.APIError, json.JSONDecodeError, _Malformed) as error:
            return _Trouble(f"an answer that cannot be read ({error})")

    async def _send(self, ask: Ask, limit: int) -> Any:
        # The client's bare post: its typed methods spend more time checking the shape of the messages than the request takes.
        body: dict[str, Any] = {"model": self.model, self._token_limit_name: limit, **self._temperature}
        if self._seeded:
            body["seed"] = ask.attempt
        if self._settings.api == "completion":
            body |= {"prompt": completion_prompt(ask), "stop": list(_COMPLETION_STOPS)}
            return await self._client.post("/completions", body=body, cast_to=object)
        return await self._client.post("/chat/completions", body=body | {"messages": chat_messages(ask)}, cast_to=object)

    def _answer(self, response: Any) -> Answer:
        try:
            choice, usage = response["choices"][0], response.get("usage") or {}
            message = choice if self._settings.api == "completion" else choice["message"]
            raw = message.get("text" if self._settings.api == "completion" else "content") or ""
            spent = (int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0))
        except (LookupError, TypeError, AttributeError, ValueError):
            raise _Malformed("it holds no choice") from None
        if isinstance(raw, list):  # content in parts, as some servers send it
            raw = "".join(str(part.get("text", "")) for part in raw if isinstance(part, dict))
        if message.get("refusal") and not raw:
            return Answer("", str(message["refusal"]), Refusal("refusal", "it was refused; say what happens, plainly"), *spent)
        line, fault = line_of(str(raw), message.get("reasoning_content") or message.get("reasoning"), choice.get("finish_reason"))
        return Answer(line, str(raw), fault, *spent)

    def _status_trouble(self, error: Any) -> Answer | _Trouble:
        """What an HTTP error means: wait and try again, ask differently, refuse this passage, or stop."""
        status, why, host = error.status_code, self._clean(error.message), host_of(self.base_url)
        if status in (401, 403):
            raise BadInput(f"{host} refused the key ({status}: {why}); set OPENAI_API_KEY to one that may use {self.model}")
        if status == 404:
            raise BadInput(f"{host} knows no such address or model ({why}); check beats.base_url, beats.model and beats.api")
        if 300 <= status < 400:
            raise BadInput(
                f"{host} sends its callers on to {error.response.headers.get('location')}; set beats.base_url to where it should go"
            )
        if status == 429 and error.code == "insufficient_quota":
            raise BadInput(f"{host} says that the account has no credit left ({why})")
        if status in (408, 409, 425, 429) or status >= 500:
            return _Trouble(f"{status}: {why}", _retry_after(error.response.headers), busy=status in (429, 503))
        if "max_completion_tokens" in error.message and self._token_limit_name == "max_tokens":
            self._token_limit_name = "max_completion_tokens"
            return _Trouble(why, retry_after=0.001)
        if "temperature" in error.message and self._temperature:
            self._temperature = {}
            say(f"{host} takes no temperature for {self.model}; it is left out")
            return _Trouble(why, retry_after=0.001)
        return Answer("", f"{status}: {why}", Refusal("refusal", f"the server refused it ({status})"))

    async def _wait_while_busy(self) -> None:
        while (wait := self._resume_at - time.monotonic()) > 0:
            await asyncio.sleep(wait)

    def _note_busy(self, wait: float) -> None:
        # Single refusals are waited out one by one; when every request under way is refused, all hold back.
        self._busy_row += 1
        if self._busy_row >= self._settings.concurrency:
            self._busy_row = 0
            self._resume_at = time.monotonic() + wait

    def _clean(self, text: str) -> str:
        text = " ".join(str(text).split())[:200]
        return text.replace(self._key, "***") if self._key else text


class _Trouble:
    """A request that is worth trying again."""

    def __init__(self, why: str, retry_after: float | None = None, busy: bool = False) -> None:
        self.why, self.retry_after, self.busy = why, retry_after, busy


class _Malformed(Exception):
    """A response of the right type with nothing in it."""


def is_address(base_url: str) -> bool:
    """Whether a text is an http(s) address with a host, and a number for a port where it names one."""
    try:
        parts = urlsplit(base_url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def host_of(base_url: str) -> str:
    """The host and port of an address, without a user or password in it."""
    parts = urlsplit(base_url)
    return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or base_url


def is_loopback(base_url: str) -> bool:
    """Whether an address is this machine: by number or as localhost, and not by a name that only begins like one."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a busy server asks to wait: retry-after-ms, or Retry-After in seconds or as a date."""
    try:
        if value := headers.get("retry-after-ms"):
            wait = float(value) / 1000
        elif value := headers.get("retry-after"):
            wait = float(value) if value.replace(".", "", 1).isdigit() else parsedate_to_datetime(value).timestamp() - time.time()
        else:
            return None
    except (ValueError, TypeError):
        return None
    return min(max(wait, 0.001), _LONGEST_RETRY_AFTER_SECONDS)
