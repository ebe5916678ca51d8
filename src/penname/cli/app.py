"""The command line: one verb a file, imported when it is called. No logic lives here.

``penname --help`` imports no room: each verb's line of help stands in the table below.
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import shlex
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from penname.core.errors import PennameError

# verb -> one line of help, in the order in which a newcomer meets them
VERBS = {
    "demo": "The whole pipeline on the bundled story, on CPU, ending in report.html.",
    "new": "Make a voice folder.",
    "status": "Show each stage (missing, fresh, stale, running or blocked) and the next command.",
    "run": "Do what is missing or stale, in order.",
    "check": "Check folder, corpus and machine before time is spent.",
    "book": "Clean the books, with an account of every line that was removed.",
    "cast": "Find who is who, and what a person must decide.",
    "review": "Decide names on a local page.",
    "rename": "Make the renamed copies and prove them.",
    "beat": "Cut passages and write their beat lines.",
    "shard": "Tokenise, mask and pack the training documents.",
    "control": "Register thresholds, and show that the instrument can see.",
    "train": "Train the runs, one a seed.",
    "judge": "Give the verdict.",
    "report": "Write report.html.",
    "write": "Write a passage from a beat.",
    "carrier": "Base models: list, stage, verify, probe, bench, compare, plan.",
    "bind": "Prove that the adapter binds where it is served.",
    "export": "Export the adapter, a merged model, GGUF, or the dataset.",
    "launch": "Start a verb detached, once the machine is shown to be free.",
    "jobs": "Show the jobs of this voice.",
    "logs": "Show a job's log.",
    "stop": "Stop a job after it has saved.",
    "sweep": "Train a table of arms.",
    "archive": "Copy adapters and what proves them to a second place, or re-hash them there.",
    "restore": "Bring an archived run back.",
    "backup": "Check that a backup holds the adapters and nothing else.",
    "purge": "Delete checkpoints and merged models that are safe to delete.",
    "doctor": "Versions, device, kernels present and absent, disk.",
}


class LazyVerbs(TyperGroup):
    """A command group that imports a verb's module only when that verb is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The verbs in the order of the table."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A placeholder with the help line: enough for ``penname --help``."""
        if cmd_name not in VERBS:
            return None
        return TyperCommand(cmd_name, help=VERBS[cmd_name])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The real command for a known verb; the usual error with suggestions otherwise."""
        if args and args[0] in VERBS:
            return args[0], load_verb(args[0]), args[1:]
        self.commands = {name: self.get_command(ctx, name) for name in VERBS}  # what near matches are looked for in
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Do the verb. Ctrl-C and a reader that has gone are met here: typer would swallow the one and call the other a failure."""
        try:
            done = super().invoke(ctx)
            sys.stdout.flush()
            return done
        except KeyboardInterrupt:
            fail("interrupted; what was finished is kept, run the same command again to go on", 130)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing more to say
            sys.exit(0)


def load_verb(verb: str) -> Any:
    """The command of one verb: its module's ``app`` where it is a group, else the function of the same name."""
    module = importlib.import_module(f"penname.cli.{verb}")
    if hasattr(module, "app"):
        command = typer.main.get_command(module.app)
    else:
        single = typer.Typer(add_completion=False)
        settings = getattr(module, "CONTEXT_SETTINGS", {})
        single.command(verb, context_settings={"help_option_names": ["-h", "--help"], **settings})(getattr(module, verb))
        command = typer.main.get_command(single)
    command.name = verb
    return command


app = typer.Typer(cls=LazyVerbs, add_completion=True, no_args_is_help=True, context_settings={"help_option_names": ["-h", "--help"]})


def _version(shown: bool) -> None:
    if shown:
        from penname import __version__

        print(f"penname {__version__}")
        raise typer.Exit


@app.callback()
def penname(
    directory: Annotated[Path | None, typer.Option("-C", "--dir", help="Work in this folder, as if called there.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no messages on stderr; errors still print.")] = False,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    """From an author's books to a voice, and the proof that it is one.

    Start with: penname demo
    """
    from penname.core.progress import be_called_in, be_quiet, know_verbs

    be_quiet(quiet)
    know_verbs(verb for verb in VERBS if verb not in ("new", "demo", "doctor"))
    if directory is not None:
        if not directory.is_dir():
            if directory.exists():
                raise PennameError(f"{directory} is a file; -C takes the folder of a voice")
            raise PennameError(
                f"there is no folder {directory}; make a voice with: penname new {shlex.quote(str(directory))} --book SOURCE"
            )
        os.chdir(directory)
        be_called_in(directory)


def main() -> None:
    """Run the command line; one sentence and an exit code for everything that goes wrong."""
    if not sys.warnoptions and not os.environ.get("PENNAME_DEBUG"):
        warnings.simplefilter("ignore", FutureWarning)  # what one library tells another of its next version is nothing a user can act on
    _open_streams()
    try:
        typer.main.get_command(app)(prog_name="penname")
    except PennameError as error:
        fail(str(error), error.exit_code)
    except OSError as error:
        if os.environ.get("PENNAME_DEBUG"):
            raise
        where = f"{error.filename or 'the system'}: {error.strerror or error}"
        denied = error.errno in (errno.EACCES, errno.EPERM, errno.EROFS)
        fail(f"{where}; change its permissions, or work in another folder" if denied else where, 1)
    except Exception as error:
        if os.environ.get("PENNAME_DEBUG"):
            raise
        fail(f"this is a fault of Penname, please report it: {type(error).__name__}: {error} (PENNAME_DEBUG=1 shows where)", 1)


def _open_streams() -> None:
    """Somewhere to print to, whatever the shell gave: names of books hold letters that its encoding may not have.

    A file or a pipe gets UTF-8, so that JSON is JSON everywhere; a terminal gets what it can show.
    """
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (open until the process ends)
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and (stream.encoding or "").lower().replace("-", "") != "utf8":
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="replace")


def fail(sentence: str, code: int) -> None:
    """Print the sentence on stderr and exit."""
    from penname.core.progress import as_called

    print(f"penname: {as_called(sentence)}", file=sys.stderr)
    sys.exit(code)
