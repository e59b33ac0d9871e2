"""Keys and tokens that a service or a model repeats in its words, made unreadable before anybody sees them."""

from __future__ import annotations

import re

_MASK = "…"
_NAMED = re.compile(
    r"""(?ix)
    (\bkey= | \b(?:x-goog-api-key | api[-_]?key | access[-_]?token | refresh[-_]?token | id[-_]?token | token
        | client[-_]?secret | secret | password | passwd)
     ["']? \s* [=:] \s* ["']?)
    (?!["'\s]) [^\s"'&,;<>()\]}]{6,}
    """
)
_AUTHORIZATION = re.compile(r"(?i)\b((?:Bearer|Basic)\s+)[A-Za-z0-9._~+/=-]{8,}")
_KNOWN = re.compile(
    r"""(?x)
    \b AIza[0-9A-Za-z_-]{10,}                     # Google API keys
    | \b ya29\.[0-9A-Za-z_-]+                     # Google access tokens
    | \b 1//0[0-9A-Za-z_-]{10,}                   # Google refresh tokens
    | \b GOCSPX-[0-9A-Za-z_-]{10,}                # Google client secrets
    | \b sk-[0-9A-Za-z_-]{16,}                    # keys of other model providers
    | \b eyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]+\.[0-9A-Za-z_-]*   # JSON web tokens
    """
)
_PASSWORD = re.compile(r"(://[^/\s:@]+:)[^/\s@]+@")
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)", re.DOTALL)


def masked(text: str) -> str:
    """The text without the secrets that can be told by their form or by the name before them.

    >>> masked("GET https://example.com/v1?key=AIzaSyD-1234567890 failed")
    'GET https://example.com/v1?key=… failed'
    """
    text = _PRIVATE_KEY.sub(_MASK, text)
    text = _AUTHORIZATION.sub(rf"\1{_MASK}", text)
    text = _KNOWN.sub(_MASK, text)
    text = _PASSWORD.sub(rf"\1{_MASK}@", text)
    return _NAMED.sub(rf"\1{_MASK}", text)
