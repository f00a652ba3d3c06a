"""The forms in which one model's name comes, from the most specific to the barest. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

GATEWAYS = (
    "openai",
    "anthropic",
    "google",
    "gemini",
    "mistral",
    "mistralai",
    "cohere",
    "deepseek",
    "xai",
    "x-ai",
    "groq",
    "together",
    "together_ai",
    "fireworks",
    "fireworks_ai",
    "perplexity",
    "meta",
    "meta-llama",
    "moonshot",
    "moonshotai",
    "minimax",
    "qwen",
    "dashscope",
    "zai",
    "z-ai",
    "zhipuai",
    "models",
    "azure",
    "azure_ai",
    "bedrock",
    "converse",
    "vertex_ai",
)
"""What is stripped before a slash."""

_SLASHED = re.compile(rf"(?:openrouter/[^/]+|publishers/[^/]+/models|{'|'.join(map(re.escape, GATEWAYS))})/(?=.)")
_REGION = re.compile(r"(?:us|eu|apac|global)\.(?=[^.]+\.)")
_VERSION = re.compile(r"-v\d+:\d+$")
_DATE = re.compile(r"[-@](20\d\d)(-?)(\d\d)\2(\d\d)$")
_VENDOR = re.compile(r"[a-z][a-z0-9_-]*\.(?=[a-z])")


def name_forms(name: str) -> Iterator[str]:
    """The name in lower case, then with one more known prefix or suffix stripped each time.

    The last form may lack a bare `vendor.` label; a caller takes the first form that matches exactly. No form is ever
    a mere beginning of the name: `demo-large-mini` does not become `demo-large`.
    """
    form = name.strip().lower()
    yield form
    while (shorter := _stripped(form)) != form:
        form = shorter
        yield form
    if label := _VENDOR.match(form):
        yield form[label.end() :]


def _stripped(form: str) -> str:
    for pattern in (_SLASHED, _REGION):
        if match := pattern.match(form):
            return form[match.end() :]
    for suffix in ("-latest", "@latest", "@default"):
        if form.endswith(suffix) and form != suffix:
            return form.removesuffix(suffix)
    if match := _VERSION.search(form):
        return form[: match.start()]
    if (match := _DATE.search(form)) and _is_date(match):
        return form[: match.start()]
    return form


def _is_date(match: re.Match[str]) -> bool:
    try:
        date(int(match[1]), int(match[3]), int(match[4]))
    except ValueError:
        return False
    return match.start() > 0
