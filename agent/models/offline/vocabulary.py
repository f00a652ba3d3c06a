"""The words of the known kinds of question.

A word that can change a figure (not, without, only, second, share, than …) stands in none of these lists, so that a
task with it is refused unless one of the patterns takes it.
"""

from __future__ import annotations

import re


def _words(text: str) -> list[str]:
    return text.split()


NUMBERS = {
    word: n
    for n, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"), start=1
    )
}
COUNT_WORD = "|".join((*NUMBERS, r"\d{1,2}"))

MONEY = frozenset(
    _words("""
    cost spend spent spending expense expenditure amount expensive outlay charge costly cheapest dearest
""")
)
REVENUE = frozenset(
    ["revenue", "sale", "sold", "sell", "selling", "turnover", "income", "earn", "earned", "earning", "made"]
)
SYNONYMS = (
    MONEY,
    REVENUE,
    frozenset({"unit", "quantity", "qty", "piece", "volume"}),
    frozenset({"weight", "weigh", "weighed"}),
    frozenset({"duration", "took", "lasted"}),
    frozenset({"price", "priced"}),
    frozenset({"consumption", "consumed", "consume", "usage"}),
    frozenset({"salary", "wage"}),
)
"""Words that may stand for one another where they name what is measured."""
UNCOUNTABLE = MONEY | REVENUE | {"usage", "consumption", "energy", "budget", "quota"}
"""Tables of these are about an amount; a table of anything else is about things that are counted."""
NOT_ADDITIVE = frozenset(
    _words("""
    price rate temperature score rating ratio share age margin level index percent percentage pct
    average mean balance stock headcount limit
""")
)
"""Last words of columns whose values mean nothing when added up."""

HIGH = r"most|highest|largest|biggest|greatest|top|maximum|dearest|best|leading"
LOW = r"least|lowest|smallest|fewest|bottom|minimum|cheapest|worst"
TOP = re.compile(rf"\b(?:(?P<low>{LOW})|{HIGH})\b")
BEST = re.compile(r"\b(?:best|worst)\b")
SELLING = re.compile(r"\b(?:sold|sell|selling|sells|revenue|turnover|units?)\b")

TREND = re.compile(
    r"\b(?:(?:the )?trends?(?: (?:of|in|for))?|over time|(?:by|per|each|every|for each) month|"
    r"month (?:by|to|over|on) month|"
    r"month-by-month|monthly|(?:develop(?:ed|ment)?|evolved?|changed?)(?: over time)?)\b"
)
CALENDAR = re.compile(r"\b(?:(?:per|by|each|every|a|for each) month|monthly)\b")
COMPARE = re.compile(
    r"\b(?:compar(?:e|es|ed|ing|ison)(?: of)?|versus|vs\b\.?|differ(?:ence|ences)?|"
    r"break(?:down| down)|broken down|split|"
    r"distribut(?:ed|ion)|rank(?:ing|ed)?)\b"
)
TOTAL = re.compile(r"\b(?:totals?|totalled|sum|altogether|in all|overall|combined|together|added up|how much)\b")
SUMMED = re.compile(r"\b(?:totals?|totalled|sum|how much)\b")
TOGETHER = re.compile(r"\b(?:together|combined|altogether|in all|sum|added up)\b")
AVERAGE = re.compile(r"\b(?:on average|averages?|mean|avg)\b")
HOW_MANY = re.compile(r"\b(?:how many|number of)\b")
ASKED = re.compile(r"\b(?:how many|what (?:is|was|were|are|did)|number of)\b")
COUNTING = r"(?:how many|(?:total )?number of|count of|count|most|fewest|total)"
SINGLED = rf"(?:{HIGH}|{LOW})"

LIMIT_NOUN = r"budget|limit|quota|target|cap|allowance|ceiling"
OVER_LIMIT = re.compile(
    rf"(?P<also>(?:,\s*|;\s*|[.?]\s*)?\b(?:and |also )*"
    rf"(?:if|whether|did|do|does|has|have|had) (?:any|one|some)(?: one)?"
    rf"(?: of (?:them|these|those))?\s+)?"
    rf"\b(?:(?:went |gone |go |goes |were |was |are |is )?(?:over|above|beyond)|"
    rf"exceed(?:s|ed|ing)?|overr[au]ns?|overspen[dt]|"
    rf"broke|spent more than|cost more than)\s+"
    rf"(?:(?:of|on|its|their|the|his|her|own|monthly)\s+)*(?:(?P<kind>[a-z]+)\s+)?(?P<noun>{LIMIT_NOUN})s?\b"
)
OVER_NUMBER = re.compile(
    r"\b(?P<words>exceed(?:s|ed|ing)?|over|above|more than|greater than|higher than|at least|under|below|less than|"
    r"fewer than|lower than|at most)\s+(?P<sign>[$€£])?\s?"
    r"(?P<number>(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)(?![\d-]|[.,]\d)"
    r"(?:\s?(?P<scale>k|m|thousand|million)\b)?(?:\s?(?P<unit>dollars?|usd|eur|euros?|gbp|pounds|kg|kilograms|kwh|mwh|km|%))?"
)
OPERATORS = {
    "at least": ">=",
    "under": "<",
    "below": "<",
    "less than": "<",
    "fewer than": "<",
    "lower than": "<",
    "at most": "<=",
}
SCALES = {"k": 1_000, "thousand": 1_000, "m": 1_000_000, "million": 1_000_000}
UNIT_OF = {
    "$": "usd", "dollar": "usd", "usd": "usd", "€": "eur", "euro": "eur", "eur": "eur", "£": "gbp", "gbp": "gbp",
    "pound": "gbp", "kg": "kg", "kilogram": "kg", "kwh": "kwh", "mwh": "mwh", "km": "km", "%": "%",
}  # fmt: skip
CURRENCIES = {"usd", "eur", "gbp"}

REPORT = re.compile(r"\b(?:reports?|file|memo)\b")
NO_REPORT = re.compile(
    r"[,;.]?\s*\b(?:and |but |please )*(?:no|without an?y?|without the|drop the|skip the|leave out the|"
    r"(?:don't|do not) "
    r"(?:write|make|create) (?:an?y?|the)) (?:report|file|memo)\b(?: (?:is )?(?:needed|necessary))?"
)
REPORT_CLAUSE = re.compile(
    r"[,;]?\s*\b(?:and |then |also |please )*(?:write|make|create|produce|prepare|draft|save|put|give|send|with|as|in)"
    r"(?: (?:me|us|it|this|that|them|the results?|the findings|the answer|everything|up|down|"
    r"in|into|to|as|a|an|the|short|"
    r"brief|small|one-page|quick|written|markdown))* (?:report|memo|file)s?\b"
    r"(?: (?:about|on|of|for|with) (?:it|this|that|them|the results?|the findings))?"
)
DOCUMENTS = re.compile(
    r"\b(?:polic(?:y|ies)|rules?|guidelines?|regulations?|documents?|allowed|permitted|(?:fin|trv|pro|sec|hr|sal)-\d+)\b"
)
DOCUMENT_CLAUSE = re.compile(
    r"[,;.?]?\s*\b(?:and )?(?:what (?:does|do)|(?:please )?(?:check|look up|cite|quote)) (?:[\w-]+ ){0,4}?"
    r"(?:polic(?:y|ies)|rules?|guidelines?)\b(?: (?:says?|about|on|for|of|require|allow)\b[^.?!;]*)?"
)

ABOUT_DOCUMENTS = frozenset(
    _words("""
    say says about policy policies rule rules guideline guidelines document documents write report when there check
    look up cite quote require allow how
""")
)
FILLERS = frozenset(
    _words("""
    a an and the of for in on to at from with as is are was were be been do did does has have had can
    could would you me us we our i my it its their they them these those that this there what which
    whose how much many all any both also please kindly exactly value figure database table result
    answer list show give tell find calculate compute determine work out say let know want like need see
    get business company short brief quick across handle handled carry carried s
""")
)
"""Words that change nothing about which rows are meant or what is worked out."""
CONNECTOR = re.compile(
    r"[\s,]*(?:(?:and|or|versus|vs\.?|with|against|to|compared (?:to|with))\b)?[\s,]*(?:(?:the|in|of|for|to|with)\s+)*"
)
"""What may stand between two values that are meant side by side."""
