import type { Immutable } from "@moora/agent-webui-protocol";
import * as z from "zod/mini";

/** When a schedule is due: once at a time, every so many milliseconds, or by a cron expression in a time zone. */
const scheduleTimeSchema = z.union([
  z.object({ at: z.number() }),
  z.object({ every: z.int().check(z.positive()) }),
  z.object({ cron: z.string(), timeZone: z.string() }),
]);

/** What is scheduled, as an input contains it. `due` is the next time, in milliseconds since 1970. `skip` drops missed times. */
export const newScheduleSchema = z.object({
  when: scheduleTimeSchema,
  due: z.number(),
  message: z.string(),
  missed: z.enum(["once", "skip"]),
});

/** An open schedule. `number` is that of its next due time, which no other one of the session has; `by` is who has set it. */
export const scheduleSchema = z.extend(newScheduleSchema, {
  id: z.string(),
  by: z.string(),
  number: z.number(),
});

/** An open schedule: when it is due, its message, and who has set it. */
export type Schedule = Immutable<z.infer<typeof scheduleSchema>>;
