import type { AgentInput, AgentState } from "@moora/agent-core-state-machine";

/**
 * Fields that differ between any two runs of the same conversation: times, owners, ids of requests, the number of openings, rules,
 * and digests, which are bound to a session.
 */
const volatileFields: ReadonlySet<string> = new Set([
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
  "pausedAt",
  "requestId",
  "owner",
  "opened",
  "rules",
  "digest",
  // Forks and reruns have none; what was set is in the inputs.
  "schedules",
  "scheduled",
]);

/** Fields whose content is compared as it is: their keys belong to applications, users or providers, or are never volatile. */
const opaqueFields: ReadonlySet<string> = new Set([
  "config",
  "tools",
  "raw",
  "attachments",
  "files",
  "file",
  "data",
  "patches",
]);

type Rename = (messageId: string) => string;

/** A value without volatile fields, with the ids of messages renamed. */
function withoutVolatileFields(value: unknown, rename: Rename): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withoutVolatileFields(item, rename));
  const kept: [string, unknown][] = [];
  for (const [key, field] of Object.entries(value)) {
    if (volatileFields.has(key)) continue;
    if (key === "messageId" && typeof field === "string") kept.push([key, rename(field)]);
    else kept.push([key, opaqueFields.has(key) ? field : withoutVolatileFields(field, rename)]);
  }
  return Object.fromEntries(kept);
}

/** A state without its volatile fields, with each message id replaced by the position of the message. */
export function comparableState(state: AgentState): unknown {
  const places = new Map(state.messages.map(({ id }, index) => [id, `message ${index + 1}`]));
  const rename: Rename = (id) => places.get(id) ?? id;
  const messages = state.messages.map((message) => ({ ...message, id: rename(message.id) }));
  return withoutVolatileFields({ ...state, messages }, rename);
}

/** An input without its volatile fields and, for a user message, without its random id. */
export const comparableInput = (input: AgentInput): unknown =>
  withoutVolatileFields(input, (id) => (input.type === "user-message-received" ? "" : id));
