"""The agent's own time per step: everything but the model's and the tools' time, with checkpoints and spans on.

Printed as a table, and as one JSON document to the file that is named, if one is.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, SecretStr

from agent.records import Decision, Effect, RunStatus
from agent.run.usecases import advance, decide, open_plandeck, pending_request, start_run
from agent.settings import load_settings
from agent.tools.registry import Observation, Tool, ToolContext, ToolRegistry

SIZES = (8, 100)


class LookArguments(BaseModel):
    """What the bench's tool takes."""

    n: int


class Stopwatch:
    """Time that is not the agent's own."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.seconds += time.perf_counter() - self._began


class Answers(httpx.BaseTransport):
    """A model that answers at once: a chain of steps, each call as planned, each criterion met."""

    def __init__(self, steps: int, outside: Stopwatch) -> None:
        self._steps = steps
        self._outside = outside

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """One completion."""
        with self._outside:
            body = json.loads(request.content)
            offered = [tool["function"]["name"] for tool in body.get("tools", [])]
            whole = _completion(body["model"], *self._answer(offered, body))
            if body.get("stream"):
                return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=_streamed(whole))
            return httpx.Response(200, json=whole)

    def _answer(self, offered: list[str], body: dict[str, Any]) -> tuple[str | None, Any]:
        if not offered:
            return None, "Done [1]."
        if offered[0] == "propose_plan":
            return "propose_plan", {"kind": "plan", "goal": "Look", "rationale": "Asked.", "steps": self._plan()}
        if offered[0] == "look":
            words = body["messages"][1]["content"].split("## Step\n", 1)[1].split("\n\n## ", 1)[0]
            return "look", json.loads(words)["args"]
        met = {"criterion_met": True, "reason": "seen", "key_result": "seen"}
        return offered[0], met if offered[0] == "judge_step" else {"enough": True}

    def _plan(self) -> list[dict[str, Any]]:
        return [
            {
                "id": f"s{n}",
                "description": f"Look at {n}",
                "tool": "look",
                "args": {"n": n},
                "dependencies": [f"s{n - 1}"] if n else [],
                "acceptance_criteria": "A number is shown",
            }
            for n in range(self._steps)
        ]


def _completion(model: str, name: str | None, content: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": content if name is None else None}
    if name is not None:
        call = {"name": name, "arguments": json.dumps(content)}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": call}]
    return {
        "id": "bench",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }


def _streamed(whole: dict[str, Any]) -> bytes:
    """The same answer in one piece and its usage behind it."""
    about = {key: whole[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    delta = {"content": whole["choices"][0]["message"]["content"]}
    chunks = [
        {**about, "choices": [{"index": 0, "delta": delta, "finish_reason": "stop"}]},
        {**about, "choices": [], "usage": whole["usage"]},
    ]
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode() + b"data: [DONE]\n\n"


def _describe_agent(home: Path, limits: dict[str, int]) -> None:
    """An agent with room for so many steps."""
    (home / "agents").mkdir(exist_ok=True)
    (home / "agents" / "bench.yaml").write_text(json.dumps({"name": "bench", "limits": limits}), encoding="utf-8")


def measure(steps: int) -> dict[str, float]:
    """Milliseconds of the agent's own time per step of a chain of so many, over the whole and in its last quarter."""
    outside = Stopwatch()
    ends: list[float] = []

    def look(arguments: LookArguments, _: ToolContext) -> Observation:
        ends.append(time.perf_counter() - outside.seconds)
        return Observation(text=f"{arguments.n}", data={"n": arguments.n})

    client = ChatOpenAI(
        model="bench",
        api_key=SecretStr("none"),
        base_url="http://bench.invalid/v1",
        http_client=httpx.Client(transport=Answers(steps, outside)),
        max_retries=0,
    )
    limits = {"max_steps": steps, "max_tool_calls": steps + 1, "max_llm_calls": 3 * steps + 10, "max_tokens": 10**8}
    with tempfile.TemporaryDirectory() as home, open_plandeck(load_settings(home=Path(home))) as opened:
        registry = ToolRegistry([Tool("look", 1, "Looks.", LookArguments, Effect.READ, look)])
        _describe_agent(Path(home), limits)
        app = replace(opened, model=client, registry=registry)
        run = advance(app, start_run(app, "Look at all", by="bench", agent="bench").run_id)
        request = pending_request(app, run.run_id)
        if request is None:
            raise SystemExit(f"no plan waits: {run.error}")
        decide(app, request.request_id, Decision.APPROVE, hash=request.hash, by="bench")
        done = advance(app, run.run_id)
        if done.status is not RunStatus.SUCCEEDED:
            raise SystemExit(f"the run ended as {done.status}: {done.error}")
    quarter = max(1, len(ends) // 4)
    return {
        "steps": steps,
        "ms_per_step": 1000 * (ends[-1] - ends[0]) / (len(ends) - 1),
        "ms_per_step_first_quarter": 1000 * (ends[quarter] - ends[0]) / quarter,
        "ms_per_step_last_quarter": 1000 * (ends[-1] - ends[-1 - quarter]) / quarter,
    }


def main() -> None:
    """Measure both sizes and print them."""
    measure(SIZES[0])  # imports and first opening of everything are not the agent's time per step
    rows = [measure(size) for size in SIZES]
    print("steps  ms a step  first quarter  last quarter")
    for row in rows:
        print(
            f"{row['steps']:5.0f}  {row['ms_per_step']:9.1f}  {row['ms_per_step_first_quarter']:13.1f}"
            f"  {row['ms_per_step_last_quarter']:12.1f}"
        )
    print(f"growth from {SIZES[0]} to {SIZES[1]} steps: {rows[1]['ms_per_step'] / rows[0]['ms_per_step']:.2f} times")
    for file in sys.argv[1:]:
        Path(file).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
