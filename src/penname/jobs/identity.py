"""Which process is which: pid, start ticks and boot id together. A pid alone is recycled, and a name matches the wrong process."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass

from penname.core.errors import PennameError
from penname.jobs.mounts import PROC


@dataclass(frozen=True)
class Identity:
    """One process of one boot of one machine."""

    pid: int
    start_ticks: int  # clock ticks after boot at which it started: field 22 of /proc/<pid>/stat
    boot_id: str

    def to_json(self) -> dict[str, object]:
        """As a job record keeps it."""
        return asdict(self)


def boot_id() -> str:
    """The kernel's random id of this boot."""
    try:
        return (PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        raise PennameError("jobs need Linux's /proc to tell processes apart; run the verb itself instead of: penname launch") from None


def identity_of(pid: int) -> Identity | None:
    """The identity of a live process, or None where there is none (a zombie counts as none: it does no more work)."""
    try:
        text = (PROC / str(pid) / "stat").read_text(encoding="ascii", errors="replace")  # a process may call itself anything
    except OSError:
        return None
    fields = text[text.rindex(")") + 2 :].split()  # the name may hold spaces and brackets, so count from its end
    return None if fields[0] in "ZX" else Identity(pid, int(fields[19]), boot_id())


def own_identity() -> Identity:
    """This process."""
    found = identity_of(os.getpid())
    assert found is not None
    return found


def is_alive(identity: Identity) -> bool:
    """Whether that very process still runs. A recycled pid has other start ticks; after a reboot the boot id differs."""
    return identity_of(identity.pid) == identity
