import { errorText, required, shownValue } from "@moora/agent-core-effects/internal";
import { oneOf } from "@moora/llm/internal";
import type { Schedule, ScheduleChangedInput } from "@moora/agent-core-state-machine";
import * as z from "zod/mini";
import type { OptionForms } from "../check-options.ts";
import { nextCron } from "../next-cron.ts";
import { randomId } from "../user-message.ts";
import { checkArgument, checkOptionalId, checkText } from "./session-arguments.ts";
import type { SessionParts } from "./session-methods.ts";
import { InputRefused, type Session } from "./session.ts";

/** The options of `session.schedule`: exactly one of `at`, `everyMs` and `cron`, and the message that the session receives then. */
export interface ScheduleOptions {
  /** Once, at this time: in milliseconds since 1970, or in ISO 8601 with an offset. At once if it has passed. */
  readonly at?: number | string | Date | undefined;
  /** Every so many milliseconds, an integer of at least 1,000. Does not drift: all times are this far apart. */
  readonly everyMs?: number | undefined;
  /** At the times of a cron expression with five fields, such as `0 9 * * 1-5`. */
  readonly cron?: string | undefined;
  /** The IANA zone of `cron`, such as `Europe/Berlin`. Default: `UTC`. */
  readonly timeZone?: string | undefined;
  readonly message: string;
  /** What becomes of times that no process could keep: together they run `once`, the default, or one that is over a minute late is skipped. */
  readonly missed?: Schedule["missed"] | undefined;
  /** Default: a random id. */
  readonly id?: string | undefined;
}

const forms: OptionForms<ScheduleOptions> = {
  at: { expectation: "a time, with an offset if it is a text", fits: (at) => Number.isFinite(timeIn(at)) },
  everyMs: {
    expectation: "an integer of at least 1000 milliseconds",
    fits: (everyMs) => Number.isSafeInteger(everyMs) && Number(everyMs) >= 1_000,
  },
  cron: "string",
  timeZone: "string",
  message: required("string"),
  missed: oneOf("once", "skip"),
  id: "string",
};

/** A time in milliseconds since 1970 that a `Date` can have. Not a number for anything else, such as February 30. */
function timeIn(at: unknown): number {
  if (typeof at === "string") return isoTime.safeParse(at).success ? Date.parse(at) : Number.NaN;
  if (typeof at !== "number" && !(at instanceof Date)) return Number.NaN;
  return Number.isNaN(new Date(at).getTime()) ? Number.NaN : Number(at);
}

const isoTime = z.iso.datetime({ offset: true });

/**
 * Creates the input that sets a schedule, with its first due time: for hosts without a session. `by` defaults to "application",
 * `timestamp` to the current time. Rejects with `InputRefused` for invalid options.
 */
export async function scheduleInput(
  options: ScheduleOptions,
  { by = "application", timestamp = Date.now() }: { readonly by?: string; readonly timestamp?: number } = {},
): Promise<ScheduleChangedInput> {
  checkArgument("options", "schedule", options, forms);
  const { message, missed = "once", id = randomId("schedule") } = options;
  checkOptionalId("options.id", id);
  checkText("by", by);
  const time = await timeOf(options, timestamp);
  const schedule = { ...time, message: message.toWellFormed(), missed };
  return { type: "schedule-changed", scheduleId: id, schedule, by: by.toWellFormed(), timestamp };
}

async function timeOf(options: ScheduleOptions, now: number): Promise<Pick<Schedule, "when" | "due">> {
  const { at, everyMs, cron, timeZone = "UTC" } = options;
  if (options.timeZone !== undefined && cron === undefined)
    throw refused("options.timeZone", "is only for cron.");
  const given = [at, everyMs, cron].filter((time) => time !== undefined).length;
  if (given !== 1) throw refused("options", `must have one of at, everyMs and cron, got ${given} of them.`);
  if (everyMs !== undefined) {
    const due = now + everyMs;
    if (Number.isNaN(timeIn(due))) throw refused("options.everyMs", "is never due.");
    return { when: { everyMs }, due };
  }
  if (cron === undefined) return { when: { at: timeIn(at) }, due: Math.max(timeIn(at), now) };
  let problem = "it is never due";
  try {
    const due = await nextCron(cron, timeZone, now);
    if (due !== undefined) return { when: { cron, timeZone }, due };
  } catch (error) {
    problem = errorText(error);
  }
  const got = `${shownValue(cron)} in ${shownValue(timeZone)}: ${problem}`;
  throw refused("options.cron", `must be a cron expression of five fields in an IANA time zone, got ${got}.`);
}

const refused = (path: string, message: string, code = "wrong-shape"): InputRefused =>
  new InputRefused({ code, path, message });

/** The methods that set and remove schedules, which any process with access to the session may call. */
export const scheduleMethods = ({
  base: { clock },
  outside,
  subAgents,
}: Pick<SessionParts<never>, "base" | "outside" | "subAgents">): Pick<
  Session,
  "schedule" | "unschedule"
> => ({
  async schedule(options, by = "application") {
    const input = await scheduleInput(options, { by, timestamp: clock.now() });
    if (subAgents.endsWithTask)
      throw refused("options", "cannot be set here: the session ends with its task.", "sub-agent");
    const receipt = await outside.dispatch(input);
    if (receipt.status === "ignored" && receipt.reason !== "nothing-new")
      throw refused("options", `was ignored: ${receipt.reason}.`, receipt.reason);
    return input.scheduleId;
  },
  async unschedule(id, by = "application") {
    checkText("id", id);
    checkText("by", by);
    const timestamp = clock.now();
    return await outside.dispatch({
      type: "schedule-changed",
      scheduleId: id,
      schedule: null,
      by,
      timestamp,
    });
  },
});
