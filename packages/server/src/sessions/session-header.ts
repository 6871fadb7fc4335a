import * as z from "zod/mini";
import type { SessionRef } from "../access/grant.ts";

const headerSchema = z.object({
  agent: z.object({ name: z.string() }),
  incarnation: z.exactOptional(z.string()),
  user: z.exactOptional(z.string()),
  caller: z.exactOptional(z.string()),
  parent: z.exactOptional(z.unknown()),
});

/** The session of a header; undefined for a header that is not one of a session. */
export function headerToRef(id: string, header: string): SessionRef | undefined {
  const parsed = headerSchema.safeParse(textToJson(header));
  if (!parsed.success) return undefined;
  const { agent, user = null } = parsed.data;
  return { id, agent: agent.name, user };
}

/** The incarnation in the header of a session; empty for one without. */
export const incarnationIn = (header: string): string =>
  headerSchema.safeParse(textToJson(header)).data?.incarnation ?? "";

/** Whether a header is that of the session of a sub-agent, which only the owner of its caller's session runs. */
export function isOfSubAgent(header: string): boolean {
  const parsed = headerSchema.safeParse(textToJson(header));
  return parsed.success && parsed.data.caller !== undefined;
}

/** Whether a header is that of a fork. */
export function isOfFork(header: string): boolean {
  const parsed = headerSchema.safeParse(textToJson(header));
  return parsed.success && parsed.data.parent !== undefined;
}

/** The value of a JSON text; undefined for a text that is not JSON. */
export function textToJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
