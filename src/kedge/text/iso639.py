"""The language of a text as an ISO 639-1 code, by script and by function words; cheap, and honest when unsure."""

from __future__ import annotations

import re
from collections.abc import Mapping

UNKNOWN = "und"
_SAMPLE = 2000
_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
)
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_WORD = re.compile(r"[^\W\d_]+")
_LATIN: Mapping[str, frozenset[str]] = {
    code: frozenset(words.split())
    for code, words in {
        "en": "the of and in to is was for on with as by that it from at are which this be or an have not we can if",
        "es": "el los las del que en una por con para se su es fue como al lo y más la de un sus no",
        "fr": "le les des du et une dans est pour qui que sur avec au aux par pas sont il elle la de un ce ne",
        "de": "der die das und ist von zu mit dem den des ein eine nicht auf für im wird auch sich als bei sie werden",
        "it": "il gli della di che è per una con del nel sono dei alla come più anche la le un non si",
        "pt": "os da do em um uma que para com não na no dos das foi é por mais como ao de se",
        "nl": "het een van en de op is voor met dat niet zijn aan werd bij ook uit door te wordt",
        "sv": "och att det som en på är av för med den till inte om ett har de var från",
        "pl": "i w nie na się z do jest że to jak od przez dla po są był oraz",
        "vi": "và của là có được trong cho một các những không với người này đã từ đến khi như về bao nhiêu nào",
        "ro": "și în de la cu pe că nu este care din un pentru a fost sunt mai au când câte unde cine ce",
        "tr": "ve bir bu için ile de da olarak olan en çok gibi daha",
    }.items()
}
_ASKING = frozenset("how what who whom whose why where when do does did i you me my your it a there has should".split())
"""English words of questions; some are words of other languages too."""
NAMES: Mapping[str, str] = {
    **{"en": "English", "es": "Spanish", "fr": "French", "de": "German", "it": "Italian", "pt": "Portuguese"},
    **{"nl": "Dutch", "sv": "Swedish", "pl": "Polish", "vi": "Vietnamese", "ro": "Romanian", "tr": "Turkish"},
    **{"ja": "Japanese", "ko": "Korean", "zh": "Chinese", "el": "Greek", "he": "Hebrew", "ar": "Arabic"},
    **{"hi": "Hindi", "th": "Thai", "ru": "Russian", "uk": "Ukrainian", "bg": "Bulgarian"},
}
"""Of each language that is told, by its code."""
_SLAVIC: Mapping[str, frozenset[str]] = {
    "ru": frozenset("и в не на что с по как это из для он был его от".split()),
    "uk": frozenset("і в не на що з до як це із для він був його від та є".split()),
    "bg": frozenset("и в не на че с по как това от за той беше е са се да".split()),
}


def language_of(text: str) -> str:
    """ISO 639-1 code of the language most of `text` is in, `und` when nothing speaks for one."""
    sample = text[:_SAMPLE].lower()
    letters = sum(character.isalpha() for character in sample)
    if not letters:
        return UNKNOWN
    for code, script in _SCRIPTS:
        share = len(script.findall(sample)) / letters
        if share > (0.1 if code == "ja" else 0.4):
            return code
    slavic = len(_CYRILLIC.findall(sample)) > 0.4 * letters
    return _by_words(_WORD.findall(sample), _SLAVIC if slavic else _LATIN)


def language_of_question(text: str) -> str:
    """The same of a question, which is short: what English asks with counts as English, so that a tie says nothing.

    >>> language_of("How do I undo a commit?"), language_of_question("How do I undo a commit?")
    ('pl', 'en')
    >>> language_of_question("Do kiedy i od kiedy jest czynny port?")
    'pl'
    """
    found = language_of(text)
    if found not in _LATIN:
        return found
    return _by_words(_WORD.findall(text[:_SAMPLE].lower()), {**_LATIN, "en": _LATIN["en"] | _ASKING})


def _by_words(words: list[str], known: Mapping[str, frozenset[str]]) -> str:
    scores = sorted(((sum(word in own for word in words), code) for code, own in known.items()), reverse=True)
    (best, code), (second, _) = scores[0], scores[1]
    return code if best >= 2 and best > second and best >= 0.08 * len(words) else UNKNOWN
