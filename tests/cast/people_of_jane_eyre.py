"""Who is who in Jane Eyre, written by hand from reading it: the answers that a person would give."""

from __future__ import annotations

# ruff: noqa: E501 - one person a line

# Each person: gender, and every name that the book uses for that person.
PEOPLE: dict[str, tuple[str, str]] = {
    "Jane Eyre": (
        "female",
        "Jane | Jane Eyre | Miss Eyre | Janet | Miss Jane | Miss Jane Eyre | Jane Elliott | Miss Elliott | Jane Rochester",
    ),
    "Edward Rochester": (
        "male",
        "Mr. Rochester | Rochester | Edward | Mr. Edward | Edward Rochester | Fairfax Rochester | Edward Fairfax Rochester | Monsieur Rochester "
        "| Edward Fairfax de Rochester | Monsieur Edouard Fairfax de Rochester",
    ),
    "Adele Varens": ("female", "Adele | Adela | Adele Varens | Adela Varens | Miss Adele | Miss Adela | Mademoiselle Adela | Miss Varens"),
    "Bessie": ("female", "Bessie | Bessie Lee | Bessie Leaven | Mrs. Leaven | Miss. Bessie"),
    "Alice Fairfax": ("female", "Mrs. Fairfax | Alice Fairfax | Alice | Madame Fairfax | Fairfax"),
    "St. John Rivers": (
        "male",
        "St. John | Mr. St. John | Mr. Rivers | Rivers | St. John Rivers | Mr. St. John Rivers | St. John Eyre Rivers",
    ),
    "Mrs. Reed": ("female", "Mrs. Reed | Aunt Reed | Madam Reed | Sarah Reed | Mrs. John Reed"),
    "Mr. Reed": ("male", "Mr. Reed | Uncle Reed"),
    "John Reed": ("male", "John Reed | Master John | Master Reed | Mr. John Reed | John"),
    "John the servant": ("male", "John"),
    "John Eyre": ("male", "John Eyre | Mr. Eyre | Mr. John Eyre"),
    "Diana Rivers": ("female", "Diana | Diana Rivers | Di"),
    "Mary Rivers": ("female", "Mary | Mary Rivers | Miss Mary"),
    "Mary Ingram": ("female", "Mary | Mary Ingram"),
    "Mary the servant": ("female", "Mary"),
    "Mary Ann Wilson": ("female", "Mary Ann | Mary Ann Wilson"),
    "Maria Temple": ("female", "Miss Temple | Maria Temple"),
    "Blanche Ingram": ("female", "Miss Ingram | Blanche | Blanche Ingram | Miss Blanche"),
    "Lady Ingram": ("female", "Lady Ingram | Dowager Lady Ingram | Baroness Ingram | Dowager Ingram"),
    "Lord Ingram": ("male", "Lord Ingram | Theodore | Tedo"),
    "Mr. Brocklehurst": ("male", "Mr. Brocklehurst | Brocklehurst | Robert Brocklehurst | Rev. Robert Brocklehurst"),
    "Helen Burns": ("female", "Helen | Helen Burns | Burns"),
    "Hannah": ("female", "Hannah"),
    "Georgiana Reed": ("female", "Georgiana | Miss Georgiana | Georgiana Reed | Georgy | Miss Georgy"),
    "Eliza Reed": ("female", "Eliza | Miss Eliza | Eliza Reed"),
    "Richard Mason": ("male", "Mason | Mr. Mason | Richard Mason | Richard | Dick | Jonas Mason"),
    "Bertha Mason": ("female", "Bertha Mason | Bertha | Bertha Antoinetta Mason"),
    "Leah": ("female", "Leah"),
    "Sophie": ("female", "Sophie"),
    "Pilot": ("male", "Pilot"),
    "Miss Miller": ("female", "Miss Miller"),
    "Miss Scatcherd": ("female", "Miss Scatcherd"),
    "Grace Poole": ("female", "Grace Poole | Grace | Mrs. Poole | Poole"),
    "Colonel Dent": ("male", "Colonel Dent | Dent"),
    "Mrs. Dent": ("female", "Mrs. Dent"),
    "Mr. Lloyd": ("male", "Mr. Lloyd"),
    "Sam": ("male", "Sam"),
    "Mr. Oliver": ("male", "Mr. Oliver | Bill Oliver"),
    "Rosamond Oliver": ("female", "Miss Oliver | Rosamond | Rosamond Oliver | Miss Rosamond"),
    "Carter": ("male", "Carter | Mr. Carter"),
    "Louisa Eshton": ("female", "Louisa | Louisa Eshton"),
    "Amy Eshton": ("female", "Amy | Amy Eshton"),
    "Celine Varens": ("female", "Celine | Celine Varens"),
    "Mr. Briggs": ("male", "Mr. Briggs | Briggs"),
    "Miss Abbot": ("female", "Miss Abbot | Abbot | Martha Abbot"),
    "Carlo": ("male", "Carlo"),
    "Mr. Eshton": ("male", "Mr. Eshton"),
    "Mrs. Eshton": ("female", "Mrs. Eshton"),
}
# Names that stand for one person here and another there, besides those that two of the lists above hold.
EITHER = {"Mrs. Rochester", "Reed", "Miss Reed", "Ingram", "Eyre", "Eshton"}
PLACES = {
    "Thornfield",
    "Whitcross",
    "Morton",
    "Millcote",
    "Madeira",
    "Lowood",
    "Gateshead",
    "House",
    "Marsh End",
    "Ferndean",
    "Thornfield Hall",
}


def bearers(name: str) -> list[str]:
    """The people who bear the name."""
    return [person for person, (_, names) in PEOPLE.items() if name in names.split(" | ")]
