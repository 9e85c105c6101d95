"""What in a text changes by itself, and is not counted when versions are compared.

Spaniol 2010 wants non-significant differences (ads, fortunes, request timestamps) to fall away
before a text is hashed. Advertisements fall away with the main content; what is left inside it are
clocks and counters. Each rule has a name and a reason, so that it can be argued with.

The rules are shy. A date is content as a rule (a deadline that moves by a week is the news of that
page), so it is noise only where the words before it say that it is the page's own, or where it has
seconds, as clocks do and people do not. What is taken away leaves a stand-in: that a counter came
or went is still seen, only its figure is not.
"""

import re
import unicodedata
from dataclasses import dataclass

_MONTHS = r"""
    jan(?:uary|uar|vier|\.)?|feb(?:ruary|ruar|\.)?|f[ée]vrier|febrero|mar(?:ch|s|zo|\.)?|m[äa]rz
    |apr(?:il|\.)?|avril|abril|may|mai|mayo|juni?e?|juin|junio|jul[iy]?|juillet|julio|aug(?:ust|\.)?
    |ao[ûu]t|agosto|sep(?:t|tember|tembre|tiembre|\.)?|o[ck]t(?:ober|obre|ubre|\.)?
    |nov(?:ember|embre|iembre|\.)?|de[cz](?:ember|\.)?|d[ée]cembre|diciembre|enero
"""
_DAYS = r"""
    mon(?:day|tag)?|tue(?:sday|s)?|wed(?:nesday)?|thu(?:rsday|rs|r)?|fri(?:day)?|sat(?:urday)?
    |sun(?:day)?|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag
    |lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche
    |lunes|martes|mi[ée]rcoles|jueves|viernes|s[áa]bado|domingo
"""
# One piece of a date or of a time of day: a figure, a name, or what joins them.
_PIECE = rf"""
    (?: [0-9]{{1,4}}+ (?: [年月日時时分秒년월일시분초] | (?:st|nd|rd|th)?+ (?![^\W_]) )
      | (?: {_MONTHS} | {_DAYS}
          | at|on|um|am|pm|a\.m\.|p\.m\.|uhr|à|le|de|del|las
          | z|utc|gmt|[cew]es?t|[ecmp][ds]?t|[bij]st|t ) (?![^\W_])
    )
"""
_DATE = rf"{_PIECE} (?: [\s,.:/+|()-]{{0,4}}+ {_PIECE} ){{0,13}}+ \)?+"
_UPDATED = r"""
    (?:this\ page\ was\ |page\ |site\ |article\ |document\ )?+
    (?:last|latest|recently|most\ recently|previously)?+ \ ?+
    (?:updated|modified|changed|edited|generated|rendered|rebuilt|built|revised|refreshed|reviewed
      |crawled|retrieved|accessed|printed|checked|deployed|compiled)
    (?:\ (?:on|at|by\ \w{1,30}+\ on))?+
    | (?:last|latest) \ (?:update|modification|change|build|revision|edit|refresh|deploy|check)
    | (?:current|server|local|page)\ (?:date|time)(?:\ is)?+ | today(?:\ is|'s\ date(?:\ is)?+)
    | date\ printed
    | zuletzt\ (?:aktualisiert|geändert|bearbeitet)(?:\ am)?+ | letzte\ (?:änderung|aktualisierung)
    | stand(?=:) | derni[èe]re\ (?:mise\ [àa]\ jour|modification) | mis\ [àa]\ jour
    | [úu]ltima\ (?:actualizaci[óo]n|modificaci[óo]n|atualiza[çc][ãa]o|modifica[çc][ãa]o)
    | ultimo\ aggiornamento | 最后更新(?:时间)?+ | 最終更新(?:日)?+ | 更新日期? | 更新于
"""
_COUNTED = r"""
    (?:page\ )?+views?|reads?|hits?|visits?|visitors?|likes?|shares?|comments?|replies|followers
    |subscribers|downloads?|stars?|forks?|votes?|reactions?|retweets?|users?\ online|guests?|online
    |aufrufe|besucher|kommentare|vues|visites|commentaires|visitas|comentarios|閲覧|阅读|浏览|评论
"""
_FIGURE = (
    r"(?: [0-9]{1,3}+ (?:[,.'\u2009\u202f\ ][0-9]{3}\b)++ | [0-9]++ (?:\.[0-9]{1,2}+)?+ ) [kmb]?+"
)


# A year, a month, a time of day or figures joined as in dates: "built 3 towers" is no date.
_DATED = re.compile(
    rf"[0-9]{{4}} | [0-9][./:-][0-9] | [0-9]\ ?[月월] | \b(?:{_MONTHS})(?!\w)", re.VERBOSE
)


@dataclass(frozen=True, slots=True)
class NoiseRule:
    """A kind of noise: what it looks like (in lower case) and why it does not count.

    A line without any of `signs` cannot hold it, and those are found fast.
    Where `proof` is given, it must be found in what `pattern` took.
    """

    name: str
    reason: str
    signs: re.Pattern[str]
    pattern: re.Pattern[str]
    proof: re.Pattern[str] | None = None

    def calm(self, text: str) -> str:
        """The text with a stand-in for each noise of this kind."""
        if self.signs.search(text) is None:
            return text

        def stand_in(match: re.Match[str]) -> str:
            if self.proof is not None and self.proof.search(match[0]) is None:
                return match[0]
            return f"<{self.name}>"

        return self.pattern.sub(stand_in, text)


def _rule(
    name: str, pattern: str, reason: str, *, signs: str, proof: re.Pattern[str] | None = None
) -> NoiseRule:
    signed, shaped = re.compile(signs, re.VERBOSE), re.compile(pattern, re.VERBOSE)
    return NoiseRule(name, reason, signed, shaped, proof)


RULES = (
    _rule(
        "revision",
        r"""
        \$(?:id|rev|revision|date|author|header|rcsfile|source|url|headurl|lastchanged\w{2,12}+):
          [^$\n]{1,300}+\$
        | (?<!\w)\$?+\w{1,30}+:\ [\w./-]{1,200}+,v\ [0-9.]{1,20}+
          (?: \ [0-9]{4}[/-][0-9]{2}[/-][0-9]{2}\ [0-9]{2}:[0-9]{2}:[0-9]{2}
              (?:\ [\w.-]{1,40}+){0,2}+ )?+
          \ ?\$?+
        """,
        "version control writes down by itself that a file was stored anew",
        signs=r",v[ ]|\$[a-z]{2,20}+:",
    ),
    _rule(
        "generator",
        r"""
        (?: (?m:^)(?:proudly\ )?+(?:built|made)
          | (?<!\w)(?:generated|powered|created|produced|rendered) )
          \ (?:with|by|using)\ [a-z][\w.+-]{0,30}+ (?:\ [a-z][\w-]{0,30}+)?? ,?\ (?:version\ |v)?+
          [0-9]{1,4}+(?:\.[0-9a-z]{1,8}+){1,4}+ (?!\w)
        """,
        "which release of a program wrote the page is about the program",
        signs="(?:with|by|using)[ ]",
    ),
    _rule(
        "advert",
        r"(?m:^)(?:advertisement|sponsored(?:\ (?:content|links?|post))?+|anzeige|werbung"
        r"|publicit[ée]|publicidad)\n[^\n]{1,300}+(?m:$)",
        "what stands below that word is another one at every visit",
        signs="advertis|sponsored|anzeige|werbung|public",
    ),
    _rule(
        "updated",
        rf"(?<!\w)(?:{_UPDATED}) [\s:\uff1a]{{0,3}}+ {_DATE}",
        "a page that says when it was made says so anew whenever it is made, changed or not",
        signs="updat|modif|chang|edit|generat|render|built|build|revis|refresh|review|crawl|retriev"
        "|access|print|check|deploy|compil|[tlre][ ](?:date|time)|today|aktuali|änder|bearbeit"
        "|stand:|mis[ ]|[úu]ltim|更新",
        proof=_DATED,
    ),
    _rule(
        "clock",
        rf"""
        (?<![\w.-]) [0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}} [t\ ] [0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}
          (?:[.,][0-9]{{1,9}})?+ (?:\ ?(?:z|utc|gmt|[+-][0-9]{{2}}:?[0-9]{{2}}))?+ (?!\w)
        | (?<!\w)(?:{_DAYS}),?\ (?:[0-9]{{1,2}}\ )?+(?:{_MONTHS})\ (?:[0-9]{{1,2}}\ |[0-9]{{4}}\ )?+
          [0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}} (?:\ (?:z|utc|gmt|[a-z]{{3,4}}|[+-][0-9]{{4}}))?+
          (?:\ [0-9]{{4}})?+ (?!\w)
        | (?<!\w)(?:(?m:^)now|it's|(?:it|the\ time)\ is(?:\ now)?+|es\ ist|uhrzeit|il\ est|son\ las)
          [\s:]{{1,3}}+ [0-9]{{1,2}}:[0-9]{{2}}:[0-9]{{2}} (?![\w:])
        """,
        "a moment with seconds was written by a clock, not by a person",
        signs=":[0-9]{2}:[0-9]{2}",
    ),
    _rule(
        "age",
        r"""
        (?<!\w)(?:[0-9]{1,6}+|an?|one|a\ few)[ ]
          (?:second|sec|minute|min|hour|hr|day|week|month|year)s?\ ago(?!\w)
        | (?<!\w)(?:just\ now|moments\ ago)(?!\w)
        | (?<!\w)vor\ (?:[0-9]{1,6}+|einer?m?)[ ]
          (?:sekunde|minute|stunde|tag|woche|monat|jahr)[ens]{0,2}+(?!\w)
        | (?<!\w)il\ y\ a\ (?:[0-9]{1,6}+|une?)[ ]
          (?:seconde|minute|heure|jour|semaine|mois|an)s?(?!\w)
        | (?<!\w)hace\ (?:[0-9]{1,6}+|una?)[ ]
          (?:segundo|minuto|hora|d[íi]a|semana|mes|año)(?:e?s)?(?!\w)
        | (?<![0-9])[0-9]{1,6}+\ ?(?:秒|分钟?|小时|時間|天|日|週間|周|个月|か月|年)\ ?前
        | (?<![0-9])[0-9]{1,6}+\ ?(?:초|분|시간|일|주|개월|년)\ ?전
        """,
        "an age is told from the moment of the visit",
        signs="ago|just[ ]now|vor[ ]|il[ ]y|hace|前|전",
    ),
    _rule(
        "counter",
        rf"""
        (?<![\w.,-]){_FIGURE}\ ?(?:{_COUNTED})(?!\w)
        | (?<!\w)(?:{_COUNTED})\ ?[:\uff1a]\ ?{_FIGURE}(?!\w)
        | (?<!\w)(?:visitor|guest|besucher|visiteur|visitante)
          \ (?:number|no\.?|nr\.?|nummer|num[ée]ro|n[úu]mero|n°|\#) \ ?+ {_FIGURE}(?!\w)
        """,
        "visits count themselves; what visitors wrote is text of its own",
        signs="view|read|hit|visit|like|share|comment|repl|follow|subscri|download|star|fork|vote|react"
        "|retweet|online|guest|aufruf|besuch|kommentar|vue|comentario|閲覧|阅读|浏览|评论",
    ),
    _rule(
        "copyright",
        r"(?:©|\(c\)|(?<!\w)copyright(?!\w)) [\s,]{0,3}+ (?:©|\(c\))?+ [\s]{0,3}+ "
        r"[0-9]{4} (?:\s?[-,]\s?[0-9]{4}){0,9}+ (?!\w)",
        "its year changes with the calendar",
        signs=r"©|\(c\)|copyright",
    ),
    _rule(
        "worktime",
        r"(?<!\w)(?:generated|rendered|loaded|created|served|completed|took|execution\ time|query"
        r"|elapsed)(?:\ in|\ time)?+ [\s:]{1,3}+ [0-9]++(?:[.,][0-9]++)?+ \ ?(?:m?s|secs?|seconds?"
        r"|milliseconds?|µs|sekunden?)(?!\w)",
        "how long the server worked is about the request",
        signs="generated|rendered|loaded|created|served|completed|took|time|query|elapsed",
    ),
    _rule(
        "token",
        r"""
        (?<![\w-])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![\w-])
        | (?<!\w)
          (?:request|ray|trace|session|correlation|transaction|reference|incident|build|nonce|csrf)
          (?:[\ _-](?:id|number|no\.?|token|hash))?+ [\s:#=]{1,3}+
          (?=[a-z-]{0,40}[0-9])[0-9a-z-]{8,64}+(?!\w)
        """,
        "drawn at random for each answer; bare hexadecimal may be a checksum, which is content",
        signs="request|ray|trace|session|corre|transact|refer|incid|build|nonce|csrf|-[0-9a-f]{4}-",
    ),
)

# Typography is the template's: 'smart' quotes and dashes come and go with the software.
_TYPOGRAPHY = {
    **dict.fromkeys("‘’‚‛′`´", "'"),  # noqa: RUF001 # quotes that look alike
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("‐‑‒–—―−", "-"),  # noqa: RUF001 # and dashes
    "…": "...",
    # Not to be seen: soft hyphen, zero-width space and joiners, byte order mark, direction marks.
    **dict.fromkeys("\xad\u200b\u200c\u200d\u2060\ufeff\u200e\u200f", ""),
}
_TYPOGRAPHIC = re.compile(f"[{''.join(_TYPOGRAPHY)}]")

_FIGURES = re.compile("[0-9]")
_LABEL = 60  # a line before a figure that may say what it is


def settled(text: str) -> str:
    """The text as it is compared: one form of characters, no case, single spaces, no noise.

    Lower case, because capitals are style (a stylesheet can set them); one space for every run of
    blanks and line ends, because markup decides where those are.
    """
    return " ".join(_calm(_plain(text)).split())


# Punctuation of prose. Not: signs of money, measure and comparison; those in and before figures;
# those that paths, options, addresses and code are made of, where they touch a word or another.
_POINTS = re.compile(
    r"""
    (?! -[0-9] | (?<=[0-9])[.,:/-][0-9]
      | (?<=\w)(?:-(?=\w)|[.:?](?=[\w/])) | (?<![\w.-])[.-]{1,2}+[\w/] | !=
      | [/\\*~@\#&|^{}] (?:(?<=\S.)|(?=\S)) )
    [^\w$€£¥%°<>=+]
    """,
    re.VERBOSE,
)


def bare(text: str) -> str:
    """A settled text without punctuation: "1.1 Terms" and "1.1. Terms" are one."""
    return " ".join(_POINTS.sub(" ", text).split())


# Names with a capital within, and options: where their capitals change they are other ones.
_CASED = re.compile(r"(?<!\w)[A-Za-z_]*[a-z][A-Z][A-Za-z_]*(?!\w)|(?<!\S)-[A-Za-z](?!\w)")


def recased(old: str, new: str) -> bool:
    """Whether a name is written with other capitals. What one of two has alone is no such name."""
    before, after = set(_CASED.findall(old)), set(_CASED.findall(new))
    if before == after:
        return False
    there, here = (set(re.findall(r"-?\w+", text.lower())) for text in (old, new))
    return any(name.lower() in here for name in before - after) or any(
        name.lower() in there for name in after - before
    )


def _plain(text: str) -> str:
    """Characters in one form, lower case, single spaces; lines still apart, as rules need them."""
    if not text.isascii():
        text = _TYPOGRAPHIC.sub(lambda match: _TYPOGRAPHY[match[0]], text)
        text = unicodedata.normalize("NFC", text)
    text = text.lower()
    return "\n".join([" ".join(line.split()) for line in text.splitlines()])


def _calm(text: str) -> str:
    """Noise has a figure in it, so only lines with one are looked at, with the label before."""
    parts: list[str] = []
    done = 0
    while (figure := _FIGURES.search(text, done)) is not None:
        start = text.rfind("\n", done, figure.start()) + 1 or done
        label = text.rfind("\n", done, max(start - 1, done)) + 1 or done
        if start - label <= _LABEL:
            start = label
        end = text.find("\n", figure.end())
        end = len(text) if end < 0 else end
        line = text[start:end]
        for rule in RULES:
            line = rule.calm(line)
        parts += (text[done:start], line)
        done = end
    text = "".join(parts) + text[done:]
    for rule in _WORDED:
        text = rule.calm(text)
    return text


# "An hour ago" has no figure, nor have many advertisements.
_WORDED = tuple(rule for rule in RULES if rule.name in ("age", "advert"))
