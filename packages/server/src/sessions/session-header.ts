import * as z from "zod/mini";
import type { SessionRef } from "../access/grant.ts";

const headerSchema = z.object({
  agent: z.object({ name: z.string() }),
  incarnation: z.exactOptional(z.string()),
  user: z.exactOptional(z.string()),
  caller: z.exactOptional(z.string()),
  parent: z.exactOptional(z.unknown()),
});

/** The header of a text; undefined for one that is not that of a session. */
const headerOf = (text: string): z.infer<typeof headerSchema> | undefined =>
  headerSchema.safeParse(textToJson(text)).data;

/** The session of a header; undefined for a header that is not one of a session. */
export function headerToRef(id: string, text: string): SessionRef | undefined {
  const header = headerOf(text);
  return header && { id, agent: header.agent.name, user: header.user ?? null };
}

/** The incarnation in the header of a session; empty for one without. */
export const incarnationIn = (text: string): string => headerOf(text)?.incarnation ?? "";

/** Whether a header is that of the session of a sub-agent, which only the owner of its caller's session runs. */
export const isOfSubAgent = (text: string): boolean => headerOf(text)?.caller !== undefined;

/** Whether a header is that of a fork. */
export const isOfFork = (text: string): boolean => headerOf(text)?.parent !== undefined;

/** The value of a JSON text; undefined for a text that is not JSON. */
export function textToJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
