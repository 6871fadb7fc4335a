import type { Immutable } from "@moora/agent-webui-protocol";
import * as z from "zod/mini";

/** A time in milliseconds since 1970 that a `Date` can have. */
const time = z.number().check(z.minimum(-8.64e15), z.maximum(8.64e15));

/** When a schedule is due: once at a time, every so many milliseconds, or by a cron expression in a time zone. */
const scheduleTimeSchema = z.union([
  z.object({ at: time }),
  z.object({ everyMs: z.int().check(z.minimum(1_000)) }),
  z.object({ cron: z.string(), timeZone: z.string() }),
]);

/** What is scheduled, as an input contains it. `due` is the next time, in milliseconds since 1970. `skip` drops missed times. */
export const newScheduleSchema = z.object({
  when: scheduleTimeSchema,
  due: time,
  message: z.string(),
  missed: z.enum(["once", "skip"]),
});

/** An open schedule. `number` is that of its next due time, which no other one of the session has; `by` is who has set it: null for the agent. */
export const scheduleSchema = z.extend(newScheduleSchema, {
  id: z.string(),
  by: z.nullable(z.string()),
  number: z.number(),
});

/** An open schedule: when it is due, its message, and who has set it. */
export type Schedule = Immutable<z.infer<typeof scheduleSchema>>;
