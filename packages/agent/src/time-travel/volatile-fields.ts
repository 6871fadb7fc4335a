import type { AgentInput, AgentState } from "@moora/agent-core-state-machine";

/**
 * What differs between any two runs though nothing else does: times, who ran it and how often it was taken up, random ids
 * of messages, and digests, which bind to a session.
 */
const bookkeeping: ReadonlySet<string> = new Set([
  "timestamp",
  "calledAt",
  "calledLlmAt",
  "receivedAt",
  "updatedAt",
  "startedAt",
  "decidedAt",
  "due",
  "remindAt",
  "escalateAt",
  "retryAt",
  "owner",
  "opened",
  "digest",
]);

/** Fields whose keys are not ours, or that are not bookkeeping: nothing in them is left out. */
const whole: ReadonlySet<string> = new Set(["config", "tools", "raw", "attachments", "files"]);

type Rename = (messageId: string) => string;

/** A value without its bookkeeping, its messages named by their place. */
function comparable(value: unknown, rename: Rename): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => comparable(item, rename));
  const compared: [string, unknown][] = [];
  for (const [key, field] of Object.entries(value)) {
    if (bookkeeping.has(key)) continue;
    if (key === "messageId" && typeof field === "string") compared.push([key, rename(field)]);
    else compared.push([key, whole.has(key) ? field : comparable(field, rename)]);
  }
  return Object.fromEntries(compared);
}

/** What of a state says what happened. */
export function comparableState(state: AgentState): unknown {
  const places = new Map(state.messages.map(({ id }, index) => [id, `message ${index + 1}`]));
  const rename: Rename = (id) => places.get(id) ?? id;
  const messages = state.messages.map((message) => ({ ...message, id: rename(message.id) }));
  return comparable({ ...state, messages }, rename);
}

/** What of an input says what happened. Ids that users' messages were given are random. */
export const comparableInput = (input: AgentInput): unknown =>
  comparable(input, (id) => (input.type === "user-message-received" ? "" : id));
