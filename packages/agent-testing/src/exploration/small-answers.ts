import { effectsAt, type AgentEffect } from "@moora/agent-core-effects";
import { callId } from "@moora/agent-core-effects/internal";
import {
  isLoopRunning,
  type AgentInput,
  type AgentState,
  type InputOf,
  type TurnPart,
} from "@moora/agent-core-state-machine";
import { noAgentUsage, openCallOf } from "@moora/agent-core-state-machine/internal";
import type { SmallOutcome, SmallWorld } from "./small-outcomes.ts";

/** All valid and invalid inputs that can come next. They have the same timestamp, which does not affect the reducer. */
export function smallInputs(state: AgentState, world: SmallWorld): readonly AgentInput[] {
  const answers = Object.values(effectsAt(state)).flatMap((effect) => answersTo(effect, state, world));
  return [...answers, ...outsideInputs(state, world)];
}

const timestamp = 1;

function outsideInputs(state: AgentState, { messages, crashes, cancels }: SmallWorld): readonly AgentInput[] {
  const users = state.messages.filter((message) => message.role === "user").length;
  const inputs: AgentInput[] = [];
  if (users <= messages)
    inputs.push({ type: "user-message-received", messageId: `u${users}`, content: "Go on.", timestamp });
  if (cancels && isLoopRunning(state)) inputs.push({ type: "re-act-cancelled", timestamp });
  if (crashes && hasStarted(state)) inputs.push({ type: "session-opened", owner: "host", timestamp });
  return inputs;
}

/** Whether work has started that a crash interrupts. A crash without such work changes only a count. */
function hasStarted({ reActContext: { control } }: AgentState): boolean {
  if ("started" in control) return control.started;
  return (
    "calls" in control &&
    control.calls.some(
      ({ status }) => status.type === "probing" || (status.type === "running" && status.started),
    )
  );
}

function answersTo(effect: AgentEffect, state: AgentState, world: SmallWorld): readonly AgentInput[] {
  switch (effect.type) {
    case "call-llm":
      return llmAnswers(effect, state, world);
    case "call-tool":
      return toolAnswers(effect, state);
    case "probe-tool": {
      const { toolCallId, attempt, key } = effect;
      return [
        { type: "tool-call-interrupted", toolCallId, attempt, outcome: "unknown", timestamp },
        { type: "tool-call-interrupted", toolCallId, attempt, outcome: "not-run", timestamp },
        { type: "tool-call-completed", toolCallId, key, result: success, timestamp },
      ];
    }
    case "ask-human":
      return decisions(effect);
    case "run-state": {
      const { key } = effect;
      const events = Object.keys(state.config.graph.rows[effect.name] ?? {});
      return [...events, "Nonsense"].map((event) => ({ type: "state-handled", key, event, timestamp }));
    }
    case "wait-until":
      return [{ type: "deadline-passed", key: effect.key, timestamp }];
  }
}

const success = { isSuccess: true, content: "ok", receivedAt: timestamp } as const;
const failed = { isSuccess: false, error: "no", receivedAt: timestamp } as const;

function toolAnswers(
  { toolCallId, attempt, key }: Extract<AgentEffect, { type: "call-tool" }>,
  state: AgentState,
): readonly AgentInput[] {
  const status = openCallOf(state.reActContext.control, toolCallId)?.status;
  if (status?.type === "running" && !status.started)
    return [{ type: "tool-call-started", toolCallId, attempt, timestamp }];
  return [
    { type: "tool-call-completed", toolCallId, key, result: success, timestamp },
    { type: "tool-call-completed", toolCallId, key, result: failed, timestamp },
    { type: "tool-call-interrupted", toolCallId, attempt, outcome: "unknown", timestamp },
  ];
}

const decisionTypes = [
  "approved",
  "rejected",
  "modified",
  "answered",
  "run-again",
  "worked",
  "failed",
  "unknown",
  "forged",
] as const;

const decisions = ({
  toolCallId,
  digest,
}: Extract<AgentEffect, { type: "ask-human" }>): readonly AgentInput[] =>
  decisionTypes.map((type): AgentInput => {
    const asked = { type: "tool-call-decided", toolCallId, by: "someone", timestamp } as const;
    if (type === "forged") return { ...asked, digest: "forged", decision: { type: "approved" } };
    if (type === "modified") return { ...asked, digest, decision: { type, parameters: '{"changed":true}' } };
    if (type === "answered" || type === "worked")
      return { ...asked, digest, decision: { type, content: "so" } };
    return { ...asked, digest, decision: { type } };
  });

function llmAnswers(
  { key, purpose, messageId }: Extract<AgentEffect, { type: "call-llm" }>,
  state: AgentState,
  { outcomes, tokens }: SmallWorld,
): readonly AgentInput[] {
  const { control } = state.reActContext;
  if ("started" in control && !control.started) return [{ type: "llm-call-started", key, timestamp }];
  if (purpose === "reflect") {
    return [
      { type: "history-reflected", key, summary: "All of it.", timestamp },
      { type: "llm-call-failed", key, failure: { kind: "server", message: "", retryable: true }, timestamp },
    ];
  }
  return outcomes.map((outcome) => outcomeToInput(outcome, { key, messageId, tokens }, state));
}

function outcomeToInput(
  outcome: SmallOutcome,
  { key, messageId, tokens }: { readonly key: string; readonly messageId: string; readonly tokens: number },
  state: AgentState,
): AgentInput {
  if ("failure" in outcome) {
    const failure = { kind: outcome.failure, message: "", retryable: outcome.retryable ?? false };
    return { type: "llm-call-failed", key, failure, timestamp };
  }
  const names = "calls" in outcome ? outcome.calls : [];
  const ids = names.map((_, index) => callId(state.toolCallCount + index + 1));
  const parts: TurnPart[] = "answer" in outcome ? [{ type: "text", text: outcome.answer }] : [];
  const observation: InputOf<"re-act-observed">["observation"] =
    names.length === 0
      ? { type: "complete-re-act", ...("problem" in outcome ? { problem: outcome.problem } : {}) }
      : {
          type: "continue-re-act",
          toolCalls: Object.fromEntries(
            ids.map((id, index) => [id, { name: names[index] ?? "", parameters: "{}", calledAt: timestamp }]),
          ),
        };
  return {
    type: "re-act-observed",
    key,
    messageId,
    calledLlmAt: timestamp,
    timestamp,
    turn: {
      origin: "small",
      parts: [...parts, ...ids.map((toolCallId): TurnPart => ({ type: "call", toolCallId }))],
    },
    observation,
    ...("confidence" in outcome ? { confidence: outcome.confidence } : {}),
    ...(tokens === 0 ? {} : { usage: { ...noAgentUsage, inputTokens: tokens } }),
  };
}
