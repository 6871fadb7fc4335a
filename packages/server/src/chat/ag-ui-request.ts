import { isObject } from "@moora/agent-core-effects/internal";
import * as z from "zod/mini";
import type { ClientMessage } from "./ag-ui-base.ts";
import type { UserMessage } from "./chat-request.ts";
import { partsToContent } from "./ag-ui-files.ts";
import { checkedUserMessageId, isOfServer } from "./reserved-ids.ts";
import { HttpProblem } from "../problem.ts";

const id = z.string().check(z.minLength(1), z.maxLength(200));

const contentPartSchema = z.looseObject({ type: z.string() });

/** The schema of the payload of an answer. Which fields it may have depends on the question. */
const payloadSchema = z.looseObject({
  approved: z.optional(z.boolean()),
  reason: z.optional(z.string()),
  editedArgs: z.optional(z.unknown()),
  answer: z.optional(z.unknown()),
});

export type Payload = z.infer<typeof payloadSchema>;

/** The schema of a `RunAgentInput`, as far as it counts. The log has the conversation. */
export const runInputSchema = z.looseObject({
  threadId: id,
  runId: id,
  messages: z.array(
    z.looseObject({
      id,
      role: z.string(),
      content: z.optional(z.union([z.string(), z.array(contentPartSchema)])),
    }),
  ),
  /** The state of the client. Undefined, null, and {} without a base: it has none yet. */
  state: z.optional(z.unknown()),
  forwardedProps: z.optional(z.unknown()),
  resume: z.optional(
    z.array(
      z.looseObject({
        interruptId: z.string(),
        status: z.enum(["resolved", "cancelled"]),
        payload: z.optional(payloadSchema),
      }),
    ),
  ),
});

export type RunInput = z.infer<typeof runInputSchema>;

/**
 * The new message of a run; undefined for a run that has none, because it ends with what the server has sent, or has no message.
 * Throws `refused` if the last message is another one, or has a part of another type or a reserved id.
 */
export function newMessageOf({ messages }: RunInput): UserMessage | undefined {
  const last = messages.at(-1);
  if (last === undefined) return undefined;
  if (last.role !== "user") {
    if (isOfServer(last.id)) return undefined;
    const detail = "The last message must have the role user, or be one that the server has sent.";
    throw new HttpProblem("refused", detail, { path: "messages" });
  }
  const { content: given = "" } = last;
  const { content, ...files } = typeof given === "string" ? { content: given } : partsToContent(given);
  return { messageId: checkedUserMessageId(last.id), content: content.toWellFormed(), ...files };
}

/** What a run is about: its interrupts, or the newest message of the user. */
export function subjectOf({ messages, resume = [] }: RunInput): string | readonly string[] {
  if (resume.length > 0) return resume.map(({ interruptId }) => interruptId);
  return messages.findLast(({ role }) => role === "user")?.id ?? [];
}

/** The name under which a client may forward the state that it had before its changes. */
const baseStateName = "moora.base-state";

/** What a client posts of the application data. */
export interface PostedState {
  readonly state: unknown;
  /** What the state was before the client changed it; undefined if the client does not say so. */
  readonly base: unknown;
  /** The messages that the client has. */
  readonly messages: readonly ClientMessage[];
}

/** The state that a run posts; undefined for a client that has none yet. */
export function postedStateOf({ state, forwardedProps, messages }: RunInput): PostedState | undefined {
  const base = isObject(forwardedProps) ? (forwardedProps[baseStateName] ?? undefined) : undefined;
  // A client that names what it has changed has a state.
  if (state === undefined || state === null || (base === undefined && isEmpty(state))) return undefined;
  return { state, base, messages };
}

const isEmpty = (state: unknown): boolean => isObject(state) && Object.keys(state).length === 0;
