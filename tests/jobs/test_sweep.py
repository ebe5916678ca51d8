"""sweep: a table of runs, each once, a failed one beside the others, on this machine and on a real Ray cluster."""

from __future__ import annotations

import hashlib

import pytest

from penname.core.config import load_config
from penname.core.errors import BadInput
from penname.jobs.sweep import Task, one_by_one, read_sweep, run_sweep
from tiny import tiny_carrier
from voices import tiny_voice

TABLE = """
[sweep]
carriers = ["{carrier}"]
seeds = [1, 2]
target_modules = ["attention+mlp", ["q_proj", "v_proj"]]
threads = 1
[sweep.set]
"training.max_steps" = 2
"training.grad_accum_steps" = 1
"training.warmup_steps" = 1
"training.save_steps" = 1
"carrier.dtype" = "fp32"
"shards.seq_len" = 256
"sampling.max_tokens" = 8
"""


@pytest.fixture
def table(tmp_path):
    file = tmp_path / "sweep.toml"
    file.write_text(TABLE.format(carrier=tiny_carrier("qwen3")))
    return file


def digests(voice):
    return {
        path.parent.parent.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(voice.runs.glob("*/adapter/adapter_model.safetensors"))
    }


def test_the_table_gives_every_combination(table):
    sweep = read_sweep(table)
    assert len(sweep.tasks) == 4 and len(sweep.arms) == 2
    assert sweep.tasks[0].seed == 1 and sweep.tasks[1].seed == 2
    assert 'training.target_modules=["q_proj", "v_proj"]' in sweep.tasks[2].settings
    assert sweep.tasks[0].command("train", "--seed", "1")[1:4] == ["-m", "penname", "train"]


def test_a_value_reaches_the_configuration_as_it_stands_in_the_table(tmp_path):
    path = 'a "first"\\second'
    (tmp_path / "sweep.toml").write_text(f"[sweep]\nseeds = [1]\ncarriers = ['{path}']\n")
    (tmp_path / "voice.toml").write_text("")
    (task,) = read_sweep(tmp_path / "sweep.toml").tasks
    assert load_config(tmp_path / "voice.toml", task.settings).carrier.name == path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[sweap]\nseeds = [1]\n", "has no \\[sweep\\] table"),
        ("[sweep]\nseedz = [1]\n", 'no key "seedz" in .sweep., did you mean "seeds".*seeds wants at least one'),
        ("[sweep]\nseeds = ['a', 2]\n", "whole numbers only"),
        ("[sweep]\nseeds = [1]\ngpus = 'x'\nthreads = 1.5\nset = ['a']\n", "set wants a table.*gpus wants a number.*threads wants a whole"),
        ("[sweep]\nseeds = [1]\ncarriers = 'x'\n", "carriers wants a list"),
        ("[sweep", "is not TOML"),
    ],
)
def test_a_wrong_table_is_refused(tmp_path, text, said):
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(BadInput, match=said):
        read_sweep(tmp_path / "s.toml")


@pytest.mark.slow
def test_every_run_once_and_a_failed_arm_does_not_stop_the_rest(table, tmp_path):
    voice = tiny_voice(tmp_path / "voice", carrier=tiny_carrier("qwen3"))
    sweep = read_sweep(table)
    bad = Task((*sweep.tasks[0].settings, "training.learning_rate=-1"), 1)
    told = []
    result = run_sweep(voice.path, sweep, told.append, lambda v, tasks, s: one_by_one(v, [bad, *tasks], s))
    assert [outcome.code == 0 for outcome in result.outcomes] == [False, True, True, True, True]
    assert "learning_rate" in result.failed[0].last_line
    first = digests(voice)
    assert len(first) == 4
    written = [path.stat().st_mtime_ns for path in sorted(voice.runs.glob("*/manifest.json"))]
    assert run_sweep(voice.path, sweep, told.append).failed == []  # complete runs are skipped by their own marker
    assert digests(voice) == first
    assert [path.stat().st_mtime_ns for path in sorted(voice.runs.glob("*/manifest.json"))] == written


@pytest.mark.slow
def test_three_ray_nodes_one_of_them_killed(table, tmp_path):
    ray = pytest.importorskip("ray", reason="the extra sweep (ray) is not installed")
    from ray.cluster_utils import Cluster

    from penname.jobs.ray_sweep import on_ray

    alone = tiny_voice(tmp_path / "alone", carrier=tiny_carrier("qwen3"))
    sweep = read_sweep(table)
    assert run_sweep(alone.path, sweep, lambda _: None).failed == []
    voice = tiny_voice(tmp_path / "voice", carrier=tiny_carrier("qwen3"))
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(3)]
    ray.init(address=cluster.address, log_to_driver=False)
    try:
        killed = []

        def kill_one(outcome):
            if not killed:
                killed.append(nodes[0])
                cluster.remove_node(nodes[0], allow_graceful=False)

        result = run_sweep(voice.path, sweep, kill_one, on_ray)
        assert result.failed == [] and len(result.outcomes) == 4
        assert digests(voice) == digests(alone)
    finally:
        ray.shutdown()
        cluster.shutdown()
