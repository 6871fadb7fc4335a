import { digestOf } from "@moora/event-log";
import type { AgentInput, EventLog } from "@moora/agent";

/** The types of inputs that have a field for the id of the request of a caller. */
type WithRequestId = Extract<AgentInput, { readonly requestId?: string | undefined }>;

const typesWithRequestId: Readonly<Record<WithRequestId["type"], true>> = {
  "data-changed": true,
  "loop-retried": true,
  "re-act-cancelled": true,
  "session-paused": true,
  "session-resumed": true,
  "tool-call-decided": true,
};

const hasRequestId = (input: AgentInput): input is WithRequestId =>
  Object.hasOwn(typesWithRequestId, input.type);

/**
 * The input with the id of its post, so that the log shows whether it was appended. Inputs without such a field apply at most once
 * by themselves: they have the id of a message, or the key of an effect.
 */
export const withPostId = (input: AgentInput, postId: string): AgentInput =>
  hasRequestId(input) ? { ...input, requestId: digestOf(postId) } : input;

/** Whether the log of a session contains an input of this post, or its message. */
export async function isPostRecorded(log: EventLog, id: string, input: AgentInput): Promise<boolean> {
  const mark =
    input.type === "user-message-received"
      ? (["messageId", input.messageId] as const)
      : hasRequestId(input)
        ? (["requestId", input.requestId] as const)
        : undefined;
  if (mark === undefined) return false;
  const [field, value] = mark;
  const records = (await (await log.open(id))?.read()) ?? [];
  return records.some(({ body }) => {
    if (!body.includes(JSON.stringify(value))) return false;
    const recorded: unknown = JSON.parse(body);
    return typeof recorded === "object" && recorded !== null && Reflect.get(recorded, field) === value;
  });
}
