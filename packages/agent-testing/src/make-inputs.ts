import {
  type AgentInput,
  type AgentUsage,
  type InputOf,
  type LlmCallFailedInput,
  type TurnPart,
} from "@moora/agent-core-state-machine";
import { noAgentUsage } from "@moora/agent-core-state-machine/internal";

/**
 * A message of the user. Default of its id: made from the text. Like all inputs made here it happens in the first
 * millisecond unless `at` is given: time decides nothing.
 */
export const asked = (
  content: string,
  messageId: string = `m-${content.slice(0, 12)}`,
  at = 1,
): AgentInput => ({
  type: "user-message-received",
  messageId,
  content,
  timestamp: at,
});

/** A call of `callsMade`. Defaults: parameters `{}`, the digest `digest-<id>`. */
export interface MadeCall {
  readonly name: string;
  readonly parameters?: unknown;
  readonly needsApproval?: boolean;
  readonly digest?: string;
}

/** What a turn of `callsMade` or `answered` has beside its calls or its answer. Default: nothing. */
export interface MadeTurn {
  readonly text?: string;
  readonly reasoning?: string;
  readonly confidence?: number;
  readonly cut?: boolean;
  readonly usage?: Partial<AgentUsage>;
  /** Default: an id that is made from the key of the call. */
  readonly messageId?: string;
  readonly at?: number;
}

/** The model wants tools: `callsMade("plan/1/1/1", { 1: { name: "search" } })`. */
export function callsMade(
  key: string,
  calls: Readonly<Record<string, MadeCall>>,
  made: MadeTurn = {},
): InputOf<"re-act-observed"> {
  const at = made.at ?? 1;
  const toolCalls = Object.fromEntries(
    Object.entries(calls).map(([id, { name, parameters = {}, ...more }]) => [
      id,
      {
        name,
        parameters: typeof parameters === "string" ? parameters : JSON.stringify(parameters),
        calledAt: at,
        digest: `digest-${id}`,
        ...more,
      },
    ]),
  );
  const parts = Object.keys(calls).map((toolCallId): TurnPart => ({ type: "call", toolCallId }));
  return observed(key, [...spoken(made), ...parts], { type: "continue-re-act", toolCalls }, made);
}

/** The model answers. */
export const answered = (
  key: string,
  text: string,
  made: MadeTurn & { readonly problem?: string } = {},
): InputOf<"re-act-observed"> => {
  const observation = {
    type: "complete-re-act",
    ...(made.problem === undefined ? {} : { problem: made.problem }),
  } as const;
  return observed(key, spoken({ ...made, text }), observation, made);
};

function spoken({ text, reasoning }: MadeTurn): readonly TurnPart[] {
  const thought: TurnPart[] =
    reasoning === undefined ? [] : [{ type: "reasoning", text: reasoning, raw: { signature: reasoning } }];
  return [...thought, ...(text === undefined ? [] : [{ type: "text", text } as const])];
}

function observed(
  key: string,
  parts: readonly TurnPart[],
  observation: InputOf<"re-act-observed">["observation"],
  { confidence, cut, usage, messageId = `answer-${key}`, at = 1 }: MadeTurn,
): InputOf<"re-act-observed"> {
  return {
    type: "re-act-observed",
    key,
    messageId,
    calledLlmAt: at,
    timestamp: at,
    observation,
    turn: { origin: "test/model", parts },
    usage: { ...noAgentUsage, inputTokens: 10, outputTokens: 5, ...usage },
    ...(confidence === undefined ? {} : { confidence }),
    finish: { unified: cut === true ? "length" : "stop", raw: cut === true ? "length" : "stop" },
  };
}

/** A model call fails. Default: for good. */
export const callFailed = (
  key: string,
  kind: LlmCallFailedInput["failure"]["kind"],
  {
    retryable = false,
    partial,
    retryAfterMs,
    at = 1,
  }: {
    readonly retryable?: boolean;
    readonly partial?: string;
    readonly retryAfterMs?: number;
    readonly at?: number;
  } = {},
): AgentInput => ({
  type: "llm-call-failed",
  key,
  failure: {
    kind,
    message: `It failed: ${kind}.`,
    retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  },
  ...(partial === undefined ? {} : { partial }),
  timestamp: at,
});

/** The intent of a model call is recorded. */
export const llmStarted = (key: string, at = 1): AgentInput => ({
  type: "llm-call-started",
  key,
  timestamp: at,
});

/** The intent of a tool call is recorded. */
export const started = (toolCallId: string, attempt = 1, at = 1): AgentInput => ({
  type: "tool-call-started",
  toolCallId,
  attempt,
  timestamp: at,
});

/** A tool call succeeds. */
export const succeeded = (toolCallId: string, content = "ok", at = 1): AgentInput => ({
  type: "tool-call-completed",
  toolCallId,
  result: { isSuccess: true, content, receivedAt: at },
  timestamp: at,
});

/** A tool call fails. */
export const failed = (toolCallId: string, error = "broken", at = 1): AgentInput => ({
  type: "tool-call-completed",
  toolCallId,
  result: { isSuccess: false, error, receivedAt: at },
  timestamp: at,
});

/** A tool call was interrupted: its outcome is unknown, or it surely did not run. */
export const interrupted = (
  toolCallId: string,
  outcome: "unknown" | "not-run",
  attempt = 1,
  at = 1,
): AgentInput => ({
  type: "tool-call-interrupted",
  toolCallId,
  attempt,
  outcome,
  timestamp: at,
});

/** A human's decision on a call. Default of `digest`: the one that `callsMade` stamps on a call of this id. */
export const decided = (
  toolCallId: string,
  decision:
    | "approved"
    | "rejected"
    | "run-again"
    | "failed"
    | "unknown"
    | { readonly modified: string }
    | { readonly answered: string }
    | { readonly worked: string },
  {
    digest,
    by = "ada",
    reason,
    at = 1,
  }: {
    readonly digest?: string;
    readonly by?: string;
    readonly reason?: string;
    readonly at?: number;
  } = {},
): AgentInput => ({
  type: "tool-call-decided",
  toolCallId,
  digest: digest ?? `digest-${toolCallId}`,
  by,
  ...(reason === undefined ? {} : { reason }),
  decision:
    typeof decision === "string"
      ? { type: decision }
      : "modified" in decision
        ? { type: "modified", parameters: decision.modified }
        : "worked" in decision
          ? { type: "worked", content: decision.worked }
          : { type: "answered", content: decision.answered },
  timestamp: at,
});

/** The deadline of a wait has passed, by the key of the wait. */
export const timePassed = (key: string, at = 1): AgentInput => ({
  type: "deadline-passed",
  key,
  timestamp: at,
});

/** The loop is cancelled. */
export const cancelled = (reason?: string, at = 1): AgentInput => ({
  type: "re-act-cancelled",
  ...(reason === undefined ? {} : { reason }),
  timestamp: at,
});

/** A host opens the session to run it. */
export const opened = (owner = "host", at = 1): AgentInput => ({
  type: "session-opened",
  owner,
  timestamp: at,
});

/** The handler of a custom state returns an event. */
export const handled = (key: string, event: string, note?: string, at = 1): AgentInput => ({
  type: "state-handled",
  key,
  event,
  ...(note === undefined ? {} : { note }),
  timestamp: at,
});
