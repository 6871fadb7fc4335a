import * as z from "zod/mini";
import { agentConfigChangeSchema } from "./config.ts";
import { toolsSchema } from "./state.ts";

/**
 * A call hands the conversation to another agent of a team. `config` and `tools` are those of that agent, so that the record
 * alone says how the conversation continues.
 */
export const handoffSchema = z.object({
  to: z.string().check(z.minLength(1), z.maxLength(200)),
  config: agentConfigChangeSchema,
  tools: toolsSchema,
  /** The most handoffs of one loop. */
  maxPerLoop: z.int().check(z.positive()),
  /** What the other agent needs to know. */
  message: z.exactOptional(z.string()),
});
