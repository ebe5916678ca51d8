"""Words of beats and passages: how they are compared, and the closed word lists that the gate and keywords use."""

from __future__ import annotations

import re
import unicodedata

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
"""A word without its hyphens and dashes: "window-seat" is two."""


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


TITLES = _listed("""
    mr mrs ms miss master mister sir lady lord madam madame mademoiselle monsieur mme mlle dr doctor st saint rev reverend
    captain colonel major general lieutenant sergeant professor count countess duke duchess baron baroness earl king queen
    prince princess father mother brother sister uncle aunt cousin dame squire dean bishop judge nurse esq messrs m misses
    mistress mdlle messieurs mm herr frau fraulein signor signora signorina senor senora don donna dom capt col gen lieut lt
    corporal admiral commodore prof inspector constable governor parson vicar deacon marquis marquess viscount viscountess
    marchioness president mayor alderman hon honourable auntie grandmother grandfather friar abbé père mère young old little
    poor dear junior senior ste san santa
""")
"""Words before a name that are no name: they stay in every copy (or are replaced with the whole surface)."""

CAPITALISED = _listed("""
    i i'm i'll i've i'd o oh god lord heaven providence bible christmas easter sunday monday tuesday wednesday thursday
    friday saturday january february march april may june july august september october november december english french
    german italian spanish irish scottish scotch welsh british american european greek roman latin indian russian dutch
    christian catholic protestant jewish
""")
"""English words that are written with a capital and are nobody's name."""

FUNCTION_WORDS: dict[str, frozenset[str]] = {
    "en": _listed("""
        a an the and or but nor so yet if then than that this these those there here of to in on at by for from with without
        into onto upon over under about above below between among through during before after against toward towards behind
        beside beyond within as is am are was were be been being has have had having do does did done doing will would shall
        should can could may might must ought not no never i me my mine myself you your yours yourself he him his himself she
        her hers herself it its itself we us our ours ourselves they them their theirs themselves who whom whose which what
        when where why how all any both each every few more most much many some such only own same too very just also even
        still again ever once out up down off away back while until till since because though although however therefore
        perhaps quite rather almost indeed now one two three thing things something nothing anything everything else other
        others another well yes oh ah said say says saying says thought think know knew like made make came come went go got
        get let put took take see saw seen look looked seem seemed little great good old long last first way day time man sir
        mr mrs miss whether either neither cannot don't didn't can't won't it's i'm i'll i've i'd that's thou thee thy thine
        hath doth ye unto having hers per via etc
    """),
    "fr": _listed("""
        le la les un une des du de et ou mais donc que qui quoi dont où ce cette ces il elle ils elles je tu nous vous on se
        ne pas plus dans sur sous avec sans pour par chez est sont était avait son sa ses leur leurs au aux en y à d l qu
    """),
    "de": _listed("""
        der die das den dem des ein eine einen einem einer und oder aber dass daß weil wenn ich du er sie es wir ihr mich
        dich ihn ihm uns nicht kein mit ohne für von vom zu zum zur auf aus bei nach ist sind war waren hat haben wird im am
        sein seine ihre sich
    """),
    "es": _listed("""
        el la los las un una unos de del y o pero que quien cuando donde como él ella ellos yo tú nosotros se no más en con
        sin para por es son era había su sus al lo le les muy sobre entre hasta
    """),
    "it": _listed("""
        il lo la i gli le un uno una di del della dei delle e o ma che chi quando dove come egli lei loro io tu noi si non
        più in nel nella con senza per da dal è sono era aveva suo sua suoi al alla
    """),
    "pt": _listed("""
        o a os as um uma de do da dos das e ou mas que quem quando onde como ele ela eles eu tu nós se não mais em no na nos
        nas com sem para por é são era havia seu sua ao à
    """),
    "nl": _listed("""
        de het een en of maar dat die wie wat als ik jij hij zij wij niet geen met zonder voor van naar op uit bij is zijn
        was had haar
    """),
}


def folded(text: str) -> list[str]:
    """The words in lower case with straight apostrophes: what copying and repeats are compared on."""
    return [word.lower().replace("’", "'") for word in WORD.findall(text)]


def base_form(word: str) -> str:
    """A crude stem, so that "curtain" and "curtains" count as one word; used only to pool counts and look words up."""
    for ending, least in (("'s", 2), ("ies", 3), ("ing", 4), ("ed", 4), ("es", 4), ("s", 3)):
        if word.endswith(ending) and len(word) - len(ending) >= least and not word.endswith("ss"):
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


def script(char: str) -> str:
    """The script of a letter by its Unicode name: "LATIN", "CYRILLIC", "CJK"."""
    return unicodedata.name(char, "UNKNOWN").split()[0]
