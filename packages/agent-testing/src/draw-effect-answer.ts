import type { AgentEffect } from "@moora/agent-core-effects";
import { callId } from "@moora/agent-core-effects/internal";
import type { AgentInput, AgentState, InputOf, TurnPart } from "@moora/agent-core-state-machine";
import { openCallOf } from "@moora/agent-core-state-machine/internal";
import type { Choose } from "./choose.ts";
import { drawPatches } from "./draw-data.ts";
import { drawHandlerAnswer } from "./draw-handler-answer.ts";
import { drawHandoff } from "./draw-handoff.ts";
import { drawText } from "./draw-text.ts";
import { drawToolUsage, drawUsage } from "./draw-usage.ts";
import { oneOf } from "./simulation/choices.ts";

/** Draws a valid or invalid answer to a wanted effect. */
export function drawAnswer(state: AgentState, effect: AgentEffect, choose: Choose): AgentInput {
  const timestamp = state.updatedAt + choose(3) - 1;
  switch (effect.type) {
    case "call-llm":
      return drawLlmAnswer(state, effect, choose, timestamp);
    case "call-tool":
      return drawToolAnswer(state, effect, choose, timestamp);
    case "probe-tool": {
      const { toolCallId, attempt, key } = effect;
      if (choose(3) === 0) {
        return {
          type: "tool-call-completed",
          toolCallId,
          key,
          result: success(choose, timestamp),
          timestamp,
        };
      }
      const outcome = choose(2) === 0 ? "unknown" : "not-run";
      return { type: "tool-call-interrupted", toolCallId, attempt, outcome, timestamp };
    }
    case "ask-human":
      return drawDecision(effect, choose, timestamp);
    case "run-state":
      return drawHandlerAnswer(state, effect, choose, timestamp);
    case "wait-until":
      return {
        type: "deadline-passed",
        key: effect.key,
        ...(choose(2) === 0 ? { next: effect.due + 1_000 } : {}),
        ...(choose(4) === 0 ? { missed: true } : {}),
        timestamp,
      };
  }
}

type Call = Extract<AgentEffect, { type: "call-llm" }>;

function drawLlmAnswer(state: AgentState, effect: Call, choose: Choose, timestamp: number): AgentInput {
  const { key, messageId, purpose } = effect;
  const dice = choose(12);
  const { control } = state.reActContext;
  const isStarted = "started" in control && control.started;
  if (dice === 0) return { type: isStarted ? "llm-call-interrupted" : "llm-call-started", key, timestamp };
  if (purpose === "reflect") {
    return dice < 3
      ? llmFailed(key, choose, timestamp)
      : { type: "history-reflected", key, summary: drawText(choose), timestamp };
  }
  if (dice === 1) return { type: "llm-message-started", messageId, key, timestamp };
  if (dice === 2)
    return { type: "llm-message-completed", messageId, content: drawText(choose), key, timestamp };
  if (dice < 5) return llmFailed(key, choose, timestamp);
  return drawObservation(state, effect, choose, timestamp);
}

const failureKinds = [
  "rate-limit",
  "server",
  "empty",
  "context-length",
  "refusal",
  "auth",
  "interrupted",
] as const;

const llmFailed = (key: string, choose: Choose, timestamp: number): AgentInput => ({
  type: "llm-call-failed",
  key,
  failure: {
    kind: oneOf(choose, failureKinds),
    message: "drawn",
    retryable: choose(2) === 0,
    ...(choose(3) === 0 ? { retryAfterMs: choose(100_000) } : {}),
    ...(choose(3) === 0 ? { refusedBy: "drawn" } : {}),
  },
  ...(choose(3) === 0 ? { partial: drawText(choose) } : {}),
  ...(choose(2) === 0 ? { usage: drawUsage(choose) } : {}),
  timestamp,
});

function drawObservation(
  state: AgentState,
  { key, messageId }: Call,
  choose: Choose,
  timestamp: number,
): InputOf<"re-act-observed"> {
  const count = oneOf(choose, [0, 0, 1, 1, 2, 3, 5]);
  const toolCalls: Record<string, { name: string; parameters: string; calledAt: number; digest?: string }> =
    {};
  for (let index = 1; index <= count; index += 1) {
    const id = callId(state.toolCallCount + index);
    toolCalls[id] = {
      name: drawName(state, choose),
      parameters: drawParameters(choose),
      calledAt: timestamp,
    };
    if (choose(2) === 0) toolCalls[id] = { ...toolCalls[id], digest: `digest-${id}` };
  }
  const parts: TurnPart[] = [];
  if (choose(3) === 0) parts.push({ type: "reasoning", text: "hm", raw: { signature: "s" } });
  if (count === 0 || choose(2) === 0) parts.push({ type: "text", text: drawText(choose) });
  for (const toolCallId of Object.keys(toolCalls)) parts.push({ type: "call", toolCallId });
  if (choose(6) === 0) {
    parts.push({
      type: "internal-call",
      name: "find_tool_calls",
      arguments: "{}",
      answer: { isError: false, content: "" },
    });
  }
  if (choose(8) === 0)
    parts.push({ type: "file", file: { mediaType: "image/png", url: "data:image/png;base64,AAAA" } });
  const internal = parts.some((part) => part.type === "internal-call");
  return {
    type: "re-act-observed",
    key,
    calledLlmAt: timestamp,
    observation:
      count > 0 || internal || choose(8) === 0
        ? { type: "continue-re-act", toolCalls }
        : { type: "complete-re-act", ...(choose(5) === 0 ? { problem: "no JSON" } : {}) },
    ...(choose(8) === 0 ? {} : { turn: { origin: "drawn", parts } }),
    ...(choose(8) === 0 ? {} : { messageId }),
    usage: drawUsage(choose),
    ...(choose(4) === 0 ? { confidence: choose(11) / 10 } : {}),
    ...(choose(3) === 0 ? { finish: { unified: oneOf(choose, ["stop", "length"]), raw: "" } } : {}),
    timestamp,
  };
}

function drawToolAnswer(
  state: AgentState,
  { toolCallId, attempt, key }: Extract<AgentEffect, { type: "call-tool" }>,
  choose: Choose,
  timestamp: number,
): AgentInput {
  const status = openCallOf(state.reActContext.control, toolCallId)?.status;
  const begun = status?.type === "running" && status.started;
  if (!begun && choose(3) > 0) {
    const reports = choose(2) === 0 ? ({ reportsUsage: true } as const) : {};
    return { type: "tool-call-started", toolCallId, attempt, ...reports, timestamp };
  }
  if (begun && choose(6) === 0) {
    return {
      type: "tool-call-interrupted",
      toolCallId,
      attempt,
      outcome: choose(2) === 0 ? "unknown" : "not-run",
      timestamp,
    };
  }
  const result =
    choose(3) === 0
      ? ({ isSuccess: false, error: drawText(choose), receivedAt: timestamp } as const)
      : success(choose, timestamp);
  const changes = state.dataStatus !== null && choose(2) === 0;
  if (choose(6) === 0) {
    const question = drawText(choose);
    const schema = choose(2) === 0 ? { answerSchema: '{"type":"object"}' } : {};
    const digest = `digest of ${key}`;
    return { type: "tool-call-asked", toolCallId, key, question, ...schema, state: null, digest, timestamp };
  }
  return {
    type: "tool-call-completed",
    toolCallId,
    ...(choose(2) === 0 ? { key } : {}),
    result,
    ...(!result.isSuccess && choose(2) === 0 ? { retryable: true } : {}),
    ...drawToolUsage(choose),
    ...(changes ? { patches: drawPatches(state, choose) } : {}),
    ...(state.activeAgent !== undefined && choose(3) === 0 ? { handoff: drawHandoff(choose) } : {}),
    timestamp,
  };
}

/** The result of a tool call that succeeds. */
export const success = (choose: Choose, receivedAt: number): InputOf<"tool-call-completed">["result"] => ({
  isSuccess: true,
  content: drawText(choose),
  receivedAt,
});

function drawDecision(
  { toolCallId, digest }: Extract<AgentEffect, { type: "ask-human" }>,
  choose: Choose,
  timestamp: number,
): AgentInput {
  const decision = oneOf<InputOf<"tool-call-decided">["decision"]>(choose, [
    { type: "approved" },
    { type: "approved" },
    { type: "rejected" },
    { type: "modified", parameters: '{"changed":true}' },
    { type: "answered", content: drawText(choose) },
    { type: "run-again" },
    { type: "worked", content: drawText(choose) },
    { type: "failed" },
    { type: "unknown" },
  ]);
  const by = oneOf(choose, ["ada", "bob"]);
  return {
    type: "tool-call-decided",
    toolCallId,
    digest: choose(8) === 0 ? "forged" : digest,
    by,
    decision,
    timestamp,
  };
}

const drawParameters = (choose: Choose): string =>
  oneOf(choose, ["{}", '{"a":1}', "{bad", "[1]", "", '{"__proto__":1}']);

const drawName = (state: AgentState, choose: Choose): string =>
  oneOf(choose, [
    "unknown",
    "__proto__",
    "toString",
    ...Object.keys(state.tools),
    ...Object.keys(state.tools),
  ]);
