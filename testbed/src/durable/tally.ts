import { defineData } from "@moora/agent";
import * as z from "zod";

const schema = z.object({ items: z.record(z.string(), z.number()), total: z.number().min(0) });

/** Application data whose total shows whether an item was lost or counted twice. */
export const tally = defineData({ schema, initial: { items: {}, total: 0 } });

type Tally = z.infer<typeof schema>;

/** The tally of an agent whose type does not name its data: every agent with a tool that puts has this one. */
export const tallyOf = (data: unknown): Tally => data as Tally;
