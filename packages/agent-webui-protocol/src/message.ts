import * as z from "zod/mini";
import type { Immutable } from "./immutable.ts";

/** A file by reference. `mediaType` is an IANA media type such as `image/png`; `url` may be a `data:` URL. */
export const agentAttachmentSchema = z.object({
  mediaType: z.string(),
  url: z.string(),
  name: z.exactOptional(z.string()),
});

/**
 * What became of a message that did not go its plain way: `cut` ended too early (a broken stream, a cancel, the token
 * limit), `dropped` was made but not accepted, `withheld` is shown to people and kept from the model.
 */
export const agentMessageStatusSchema = z.enum(["cut", "dropped", "withheld"]);

/**
 * One message of the chat as people see it. Times are milliseconds since 1970; they are shown, and decide nothing.
 * While `streaming`, `content` is still empty: viewers lay the chunks over it.
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
});

/** A file of a message or a tool result: its media type and a URL, which may be a data URL. */
export type AgentAttachment = Immutable<z.infer<typeof agentAttachmentSchema>>;
/** What is unusual about a message; without one it is complete. */
export type AgentMessageStatus = z.infer<typeof agentMessageStatusSchema>;
/** One message of a conversation, as viewers see it. */
export type AgentMessage = Immutable<z.infer<typeof agentMessageSchema>>;
