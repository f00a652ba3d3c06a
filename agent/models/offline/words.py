"""Words: their roots, which mean the same, which carry nothing."""

from __future__ import annotations

import re

_COUNTED = """
one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty
"""
NUMBER_WORDS = {word: n for n, word in enumerate(_COUNTED.split(), start=1)}
ENDINGS = ("ments", "ment", "tions", "tion", "ings", "ing", "ed", "ers", "er")
KEPT = {"number", "other", "order", "quarter", "customer", "supplier", "carrier", "user", "water", "meter", "over"}
KEPT |= {"under", "owner", "member", "driver", "manager", "partner", "paper", "power", "offer", "center", "need"}


def root(word: str) -> str:
    """What is left of a word without its ending: the same for shipment, shipments and shipped."""
    word = word.lower().replace("’", "'").removesuffix("'s").removesuffix("'").replace("'", "")
    word = singular(word)
    ending = next((end for end in ENDINGS if word.endswith(end) and len(word) - len(end) >= 3), "")
    if ending and word not in KEPT and not (ending == "ed" and word.endswith("eed")):
        word = word[: -len(ending)]
        if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
            word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def singular(word: str) -> str:
    """One of several: `parcel` for `parcels`."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def roots(words: str) -> frozenset[str]:
    """The roots of words separated by spaces."""
    return frozenset(root(word) for word in words.split())


def name_words(name: str) -> tuple[str, ...]:
    """The words of a column's or table's name, in lower case."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name.strip('"'))
    return tuple(part.lower() for part in re.split(r"[^A-Za-z0-9]+", spaced) if part)


SAME = tuple(
    roots(group)
    for group in (
        "cost spend spent spending expense expenditure outlay expensive costly costliest cheapest",
        "revenue turnover income earnings earned sale takings",
        "sale sold sell selling",
        "unit quantity qty piece",
        "weight weigh weighed heavy heavier heaviest light lighter lightest mass",
        "kwh mwh energy electricity power consumption consume consumed usage use used",
        "consumption consume consumed usage use used",
        "emission emitted emit co2",
        "limit quota cap maximum max ceiling threshold allowance",
        "budget budgeted plan planned allowance",
        "target goal",
        "client customer buyer",
        "supplier vendor",
        "ticket incident case",
        "employee staff headcount workforce",
        "invoice bill",
        "bought buy purchase",
        "hour time duration longest shortest long took",
        "temperature temp hottest coldest warmest",
        "price priced priciest cheapest expensive",
        "distance length far longest shortest drive drove driven",
        "area region territory",
        "category kind type",
        "build building",
        "site location",
        "read reading measure measured measurement",
        "visit visitor",
        "donate donation",
        "produce produced production output",
        "open opened opening",
        "close closed closing",
        "create created creation",
    )
)


def same(one: str, other: str) -> bool:
    """Whether two different roots mean the same."""
    return any(one in group and other in group for group in SAME)


GENERIC = roots("amount value total sum figure number")
"""Words in a column's name that say nothing about what it holds."""
_UNITS = """
c usd eur gbp chf kg g t km m m2 m3 ha h kwh mwh min mins s sec ms l gb mb pct percent hrs hr hours days minutes cents
"""
UNITS = frozenset(_UNITS.split())
NOT_ADDED_UP = roots(
    "price rate temperature temp score ratio share rating level age humidity latency speed pct percent percentage "
    "response resolution lead delay pressure margin index satisfaction star grade quality probability discount median "
    "average mean percentile density"
)
"""Columns with these words are not summed: a sum of temperatures is a wrong number."""
STOCKS = roots(
    "stock inventory balance headcount employee staff member subscriber population capacity occupancy seat backlog"
)
"""Columns with these words are summed over things, never over time."""
AMOUNTS = roots(
    "cost spend spending expense expenditure revenue sale turnover income budget payment consumption usage fee salary "
    "donation emission earnings reading measurement production output wage payroll pay rent harvest yield refund fine "
    "profit loss tax toll bonus premium"
)
"""Tables with such a name hold amounts: 'the most costs' asks for their sum, not for how many rows there are."""

DOING = roots(
    "spent spend sold sell used use consumed consume produced produce earned earn took take pay paid drive drove driven"
)
"""Verbs that add nothing where the task names what is measured by its noun: 'sold the most units'."""

GRAMMAR = roots(
    "a an the this that these those its their his her our my your it they them we us i me you he she whose "
    "is are was were be been being am do does did done has have had having can could would will shall should may might "
    "must and or of in on at to from for with as into then there here so also too just please kindly tell "
    "give gave given get got gotten see saw seen find name know want like let look me say which what how "
    "each any some one ones all both own same respective respectively overall number numbers "
    "between across exactly really actually according based using regarding concerning about among out up by per via "
    "come came go went quick short brief briefly simple clear well if let's and/or through "
    "interested curious wonder wondering would't i'd i'm what's it's"
)
"""Words that change nothing."""
CARRY_NOTHING = GRAMMAR | roots(
    "show list need provide present return data database dataset figures records result results answer question table "
    "thanks thank hello hi hey make made handle handled move moved carry carried generate generated record recorded "
    "book booked bring brought account accounted take took reach reached shown report reported stand stood "
    "work compute calculate determine identify check perform performed post posted log logged register registered "
    "company business firm organisation organization"
)
"""Words that change nothing, if no table or column is called so.

One that turns a meaning round (not, without, except, why, next) is never among them.
"""
