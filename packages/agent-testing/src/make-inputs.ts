import { didYouMean, isObject, refuse, shownValue } from "@moora/agent-core-effects/internal";
import type { AgentInput, InputOf } from "@moora/agent-core-state-machine";

/**
 * A message of the user. The default of its id is made from the text. As for all inputs made here, `at` is its timestamp,
 * in milliseconds since 1970; the default is in the first millisecond, because time does not affect the reducer.
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

/** A tool call was interrupted: its outcome is unknown, or it did not run. */
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

/** The decisions that are a word. */
const words = ["approved", "rejected", "run-again", "failed", "unknown"] as const;

/** The fields of the others: changed arguments as JSON, an answer as JSON, the result of an outcome question. */
const fields = ["modified", "answered", "worked"] as const;

/** A decision of `decided`: a word, or what the reviewer gives as text. */
type MadeDecision =
  | (typeof words)[number]
  | { readonly modified: string }
  | { readonly answered: string }
  | { readonly worked: string };

/**
 * A human's decision on a call, in the words of the log: `"approved"`, where `session.decide` takes `"approve"`. Default of `digest`: the
 * one that `callsMade` gives to a call with this id. Throws `BuildError` for any other decision.
 */
export const decided = (
  toolCallId: string,
  decision: MadeDecision,
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
  decision: recordedDecision(decision),
  timestamp: at,
});

type RecordedDecision = InputOf<"tool-call-decided">["decision"];

function recordedDecision(decision: MadeDecision): RecordedDecision {
  const given = words.find((word) => word === decision);
  if (given !== undefined) return { type: given };
  if (!isObject(decision)) return refuseDecision(decision);
  if ("modified" in decision) return { type: "modified", parameters: decision.modified };
  if ("worked" in decision) return { type: "worked", content: decision.worked };
  if ("answered" in decision) return { type: "answered", content: decision.answered };
  return refuseDecision(decision);
}

function refuseDecision(decision: unknown): never {
  const known = [...words.map((word) => `"${word}"`), ...fields.map((field) => `{ ${field}: "..." }`)];
  const hint = typeof decision === "string" ? didYouMean(decision, words) : "";
  return refuse(`decision must be ${known.join(", ")}, got ${shownValue(decision)}.${hint}`);
}

/** The deadline of a wait has passed, by the key of the wait. */
export const timePassed = (key: string, at = 1): AgentInput => ({
  type: "deadline-passed",
  key,
  timestamp: at,
});

/** The loop is canceled. */
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
