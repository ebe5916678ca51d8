"""Callings that a book may use as somebody's only name ("the Coroner", "Granny"): one may stand for another of its kind in a copy."""

# ruff: noqa: SIM905 - word lists read better as text
from __future__ import annotations

# A line is a kind. Ranks and titles of courtesy (king, captain, doctor, madam) are none of them: they are borne by many, and are no name.
_KINDS = """
coroner magistrate registrar recorder notary assessor bailiff provost reeve arbiter adjudicator attorney solicitor barrister
constable policeman patrolman gendarme inspector superintendent marshal sheriff detective
watchman turnkey warder gaoler jailer sentry sentinel gatekeeper doorkeeper
clown juggler acrobat jester tumbler mountebank conjurer conjuror harlequin ventriloquist contortionist pantaloon ringmaster
vicar curate rector parson chaplain prebendary precentor minister preacher deacon incumbent archdeacon
sexton verger beadle bellringer churchwarden almoner gravedigger
friar monk hermit anchorite novice palmer prior
prioress abbess anchoress postulant
butcher baker grocer cobbler draper hatter tailor tanner cooper chandler saddler milliner glover ironmonger fishmonger carpenter
blacksmith miller weaver potter barber tinker pedlar peddler joiner wheelwright thatcher undertaker
butler footman coachman gardener groom valet porter steward gamekeeper ostler chauffeur
landlord innkeeper waiter barman publican tapster cellarman hotelier
secretary collector commissioner treasurer ambassador envoy comptroller auditor surveyor postmaster stationmaster librarian archivist
schoolmaster lecturer headmaster usher tutor dominie proctor bursar
surgeon physician apothecary druggist dentist oculist bonesetter
boatswain bosun coxswain helmsman purser quartermaster ferryman pilot harpooner fisherman
traveller traveler stranger wanderer pilgrim voyager vagabond wayfarer sojourner
artist poet painter sculptor editor journalist novelist philosopher philologist antiquarian naturalist
farmer shepherd ploughman drover carter woodman forester huntsman poacher cowherd swineherd
hangman headsman executioner ratcatcher dustman lamplighter muleteer postilion
governess housekeeper housemaid chambermaid laundress seamstress charwoman washerwoman dairymaid milkmaid landlady matron
actress ballerina columbine songstress
granny grannie gran nana nan grandmamma grandmama grandma grandam nanna
grandpa grandpapa granddad grandad gramps grandsire
nanny nursie
"""
_GROUPS = [line.split() for line in _KINDS.strip().splitlines()]
_GROUP_OF = {word: group for group in _GROUPS for word in group}
_WOMEN = frozenset(
    """
    prioress abbess anchoress postulant governess housekeeper housemaid chambermaid laundress seamstress charwoman washerwoman dairymaid
    milkmaid landlady matron actress ballerina columbine songstress granny grannie gran nana nan grandmamma grandmama grandma grandam
    nanna nanny nursie
    """.split()
)
_KIN = frozenset(_GROUP_OF["granny"] + _GROUP_OF["grandpa"] + _GROUP_OF["nanny"])

CALLINGS = frozenset(_GROUP_OF)


def other_callings(word: str) -> tuple[list[str], list[str]]:
    """Callings that may stand for this one: those of its kind, and all others; of women for women, and no kin for others."""
    own = _GROUP_OF.get(word, [])
    far = [other for group in _GROUPS if group is not own for other in group if (other in _WOMEN) == (word in _WOMEN)]
    return [other for other in own if other != word], [other for other in far if (other in _KIN) == (word in _KIN)]
