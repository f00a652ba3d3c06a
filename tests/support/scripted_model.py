"""A scripted model behind the real client: an httpx transport that answers OpenAI requests from a list."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import httpx
from langchain_openai import ChatOpenAI

DEFAULTS: dict[str, Any] = {
    "judge_step": {"criterion_met": True, "reason": "it shows what was asked for", "key_result": "done"},
    "revise_plan": {"kind": "cannot", "message": "no other tool can do it"},
    "reflect": {"enough": True},
    "": "The answer rests on the observation [1].",
}


@dataclass
class ScriptedTransport(httpx.BaseTransport):
    """Answers by the function that is offered: a dict is a call of it, a str is prose, a Response or exception itself.

    A list of answers is used up one by one; its last answer is repeated. Tools that are not scripted are called with
    the step's fixed arguments. `react` is a turn with several tools on offer; a (name, arguments) tuple calls one.
    """

    answers: dict[str, list[Any]] = field(default_factory=dict)
    requests: list[dict[str, Any]] = field(default_factory=list)
    prompt_tokens: int = 100
    _used: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        self.requests.append(body)
        offered = [tool["function"]["name"] for tool in body.get("tools", [])]
        kind = "react" if len(offered) > 1 else offered[0] if offered else ""
        answer = self._next(kind, body)
        if isinstance(answer, httpx.Response):
            return httpx.Response(answer.status_code, content=answer.content, headers=answer.headers)
        if isinstance(answer, Exception):
            raise answer
        whole = _completion(kind, answer, body, self.prompt_tokens)
        if body.get("stream"):
            return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=_streamed(whole))
        return httpx.Response(200, json=whole)

    def calls(self, kind: str) -> int:
        """How often a function was offered ('' = none)."""
        return self._used[kind]

    def _next(self, kind: str, body: dict[str, Any]) -> Any:
        n = self._used[kind]
        self._used[kind] += 1
        if kind in self.answers:
            return self.answers[kind][min(n, len(self.answers[kind]) - 1)]
        return DEFAULTS[kind] if kind in DEFAULTS else _fixed_arguments(body)


def _fixed_arguments(body: dict[str, Any]) -> dict[str, Any]:
    words = body["messages"][1]["content"]
    after = words.split("## Step\n", 1)[1].split("\n\n## ", 1)[0]
    return dict(json.loads(after)["args"])


def _completion(kind: str, answer: Any, body: dict[str, Any], prompt_tokens: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer if isinstance(answer, str) else None}
    if not isinstance(answer, str):
        name, arguments = (kind, answer) if not isinstance(answer, tuple) else answer
        call = {"name": name, "arguments": json.dumps(arguments)}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": call}]
    return {
        "id": "scripted",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": 10,
            "total_tokens": prompt_tokens + 10,
        },
    }


def _streamed(whole: dict[str, Any]) -> bytes:
    """The same answer word by word, its usage in the last chunk."""
    about = {key: whole[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    words = re.findall(r"\S+\s*", whole["choices"][0]["message"]["content"] or "")
    deltas = [*({"content": word} for word in words), {}]
    chunks = [
        {**about, "choices": [{"index": 0, "delta": delta, "finish_reason": None if delta else "stop"}]}
        for delta in deltas
    ]
    chunks.append({**about, "choices": [], "usage": whole["usage"]})
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode() + b"data: [DONE]\n\n"


def scripted_chat(transport: ScriptedTransport) -> ChatOpenAI:
    """The real client over a scripted transport."""
    return ChatOpenAI(
        model="scripted",
        api_key="not-a-key",
        base_url="http://scripted.invalid/v1",
        http_client=httpx.Client(transport=transport),
        max_retries=0,
        stream_usage=True,
    )
