import * as z from "zod/mini";
import type { Immutable } from "./immutable.ts";

/**
 * The schema of a file by reference. `mediaType` is an IANA media type such as `image/png`; `url` may be a `data:` URL.
 */
export const agentAttachmentSchema = z.object({
  mediaType: z.string(),
  url: z.string(),
  name: z.exactOptional(z.string()),
});

/**
 * The schema of the status of an incomplete or excluded message. `cut`: it ended early, by a broken stream, a cancel or
 * the token limit. `dropped`: it was complete but not accepted. `withheld`: it is shown to users and not sent to the
 * model.
 */
export const agentMessageStatusSchema = z.enum(["cut", "dropped", "withheld"]);

/**
 * The schema of a message of the chat. Times are in milliseconds since 1970 and are for display only. While `streaming`
 * is true, `content` is empty; a viewer shows the received chunks instead.
 */
export const agentMessageSchema = z.object({
  id: z.string(),
  role: z.enum(["user", "assistant"]),
  content: z.string(),
  receivedAt: z.number(),
  updatedAt: z.number(),
  streaming: z.boolean(),
  status: z.exactOptional(agentMessageStatusSchema),
  attachments: z.exactOptional(z.array(agentAttachmentSchema)),
  /** For a message that a schedule has sent, and no person: the id of the schedule, and who has set it: null for the agent. */
  scheduled: z.exactOptional(z.object({ id: z.string(), by: z.nullable(z.string()) })),
});

/** A file of a message or a tool result: its media type and a URL, which may be a data URL. */
export type AgentAttachment = Immutable<z.infer<typeof agentAttachmentSchema>>;
/** The status of an incomplete or excluded message: `cut`, `dropped` or `withheld`. */
export type AgentMessageStatus = z.infer<typeof agentMessageStatusSchema>;
/** One message of a conversation, as it is shown to users. */
export type AgentMessage = Immutable<z.infer<typeof agentMessageSchema>>;
