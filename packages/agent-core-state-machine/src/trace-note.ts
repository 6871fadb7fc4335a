import * as z from "zod/mini";
import type { Immutable } from "@moora/agent-webui-protocol";
import { jsonCopy } from "./json-copy.ts";
import { jsonSchema } from "./json.ts";

/** The maximum number of characters of the text of a trace note. */
export const maxTraceTextLength = 1_000;

/** The maximum number of characters of the data of a trace note, as JSON text. */
export const maxTraceDataLength = 4_000;

/** Total, also for values that did not pass through `jsonCopy`: the schema is public. */
function fits(data: unknown): boolean {
  const copied = jsonCopy(data, maxTraceDataLength);
  return "copy" in copied && JSON.stringify(copied.copy).length <= maxTraceDataLength;
}

/** The schema of a trace note. */
export const traceNoteSchema = z.object({
  text: z
    .string()
    .check(
      z.minLength(1, "The text is empty."),
      z.maxLength(maxTraceTextLength, `Longer than ${maxTraceTextLength} characters.`),
    ),
  data: z.exactOptional(
    jsonSchema.check(z.refine(fits, `Longer than ${maxTraceDataLength} characters of JSON.`)),
  ),
});

/**
 * What the handler of a custom state adds to the trace: up to 1,000 characters of text, and JSON of up to 4,000 characters. The
 * model does not see it.
 */
export type TraceNote = Immutable<z.infer<typeof traceNoteSchema>>;
