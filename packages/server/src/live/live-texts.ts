import type { ToolCallResult } from "@moora/agent";
import { isObject } from "@moora/agent-core-effects/internal";
import type { LiveText } from "@moora/agent/internal";
import { chunkEventSchema } from "@moora/agent-webui-protocol";
import * as z from "zod/mini";

/** The text that the owner of a session has sent; undefined for a text of another form, such as that of another release. */
export function liveTextOf(text: string): LiveText | undefined {
  try {
    return liveTextSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

const resultSchema = z.custom<ToolCallResult>(
  (value: unknown) =>
    isObject(value) && typeof value[value["isSuccess"] === true ? "content" : "error"] === "string",
);

const liveTextSchema = z.object({
  type: z.enum(["begin", "events"]),
  session: z.string(),
  feed: z.string(),
  seq: z.int().check(z.nonnegative()),
  chunks: z.array(
    z.union([
      z.object({
        type: z.literal("question-closed"),
        path: z.array(z.string()),
        toolCallId: z.string(),
        result: z.exactOptional(resultSchema),
      }),
      chunkEventSchema,
    ]),
  ),
});
