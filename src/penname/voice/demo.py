"""``penname demo``: the whole pipeline on the bundled story, on CPU, small enough for one sitting."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from penname.core.config import load_config
from penname.core.errors import BadInput
from penname.core.files import read_json
from penname.core.folder import VoiceFolder, open_voice
from penname.core.progress import say
from penname.voice.new import new_voice
from penname.voice.run import RunOptions, run_voice

STORY = Path(__file__).parent / "story"
NAME = "demo"
CARRIER = "smollm2-135m"

# About a thirteenth of an epoch: enough to see the loss fall, in minutes on two cores of a machine without matrix units for bf16.
# Blocks are shorter than a real voice's 1,000 words, since two held-out chapters of the story have 1,700 between them; the
# samples are as many as give the base model, which writes more names than words here, more than two blocks.
SETTINGS = (
    f'carrier.name="{CARRIER}"',
    "shards.seq_len=1024",
    "training.max_steps=6",
    "training.grad_accum_steps=1",
    "training.warmup_steps=2",
    "training.learning_rate=4e-4",
    "training.eval_steps=6",
    "training.save_steps=6",
    "judging.samples=36",
    "judging.block_words=200",
    "sampling.max_tokens=110",
    "sampling.batch_size=36",
)

# Seconds each stage may take on two cores, ten minutes in all; `make demo` prints what each took beside it.
BUDGET_SECONDS = {
    "books": 4,
    "cast": 4,
    "copies": 8,
    "beats": 3,
    "shards": 5,
    "register": 2,
    "control": 105,
    "train": 230,
    "judge": 234,
    "report": 5,
}


@dataclass(frozen=True)
class DemoResult:
    """Where the demo's voice is, what the verdict was (its word and its sentence), and the seconds each stage took in this call."""

    voice: VoiceFolder
    verdict: str
    sentence: str
    seconds: dict[str, float]


def run_demo(path: Path) -> DemoResult:
    """Make the demo voice at ``path``, or go on with it, up to verdict and report.

    BadInput where ``path`` holds something else. Names are decided by the proposals, and training goes on although the
    controls on so little text may fail: both are recorded, and the verdict says what it rests on.
    """
    from penname.carriers import stage_carrier

    voice = _demo_voice(path)
    stage_carrier(CARRIER)
    say(f"{CARRIER} is instruction-tuned: it serves to try things, not to make a voice.")
    seconds = run_voice(voice, options=RunOptions(decide="auto", yes=True, anyway=True))
    verdict = read_json(voice.judging / "verdict.json")
    return DemoResult(voice, str(verdict["verdict"]), str(verdict["sentence"]), seconds)


def _demo_voice(path: Path) -> VoiceFolder:
    if (path / "voice.toml").exists():
        if load_config(path / "voice.toml").voice.name != NAME:
            raise BadInput(f"{path} holds another voice; give the demo a folder of its own: penname demo DIR")
        return open_voice(path)
    others = sorted(str(file) for file in STORY.glob("other-*.txt"))
    return new_voice(path, [str(STORY / "novella.txt")], others, name=NAME, overrides=SETTINGS, plain=True)
