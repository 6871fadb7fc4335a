import type { AgentInput } from "@moora/agent-core-state-machine";

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

/** A human's decision on a call. Default of `digest`: the one that `callsMade` gives to a call with this id. */
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
