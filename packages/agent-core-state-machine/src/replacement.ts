import type { Immutable } from "@moora/agent-webui-protocol";
import * as z from "zod/mini";

const id = z.string().check(z.minLength(1), z.maxLength(200));

export const replacementSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("message"), messageId: id, content: z.string() }),
  z.object({ type: z.literal("result"), toolCallId: id, content: z.string() }),
  z.object({ type: z.literal("answer"), content: z.string() }),
]);

/** A text that stands in place of what was there: of a message, of a result, or of the newest turn. */
export type Replacement = Immutable<z.infer<typeof replacementSchema>>;
