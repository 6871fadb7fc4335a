import { defineData } from "@moora/agent";
import * as z from "zod";

const schema = z.object({ items: z.record(z.string(), z.number()), total: z.number().min(0) });

/** Application data whose total tells of an item that was lost or counted twice. */
export const desk = defineData({ schema, initial: { items: {}, total: 0 } });

type Desk = z.infer<typeof schema>;

/** The desk of an agent whose type does not name its data: every agent with a tool that puts has this one. */
export const deskOf = (data: unknown): Desk => data as Desk;
