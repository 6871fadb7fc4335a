import { errorText, shownValue } from "@moora/agent-core-effects/internal";
import type { Schedule, ScheduleChangedInput } from "@moora/agent-core-state-machine";
import type { OptionForms } from "../check-options.ts";
import { nextCron } from "../next-cron.ts";
import { randomId } from "../user-message.ts";
import { checkArgument, checkOptionalId, checkText } from "./session-arguments.ts";
import type { SessionParts } from "./session-methods.ts";
import { InputRefused, type Session } from "./session.ts";

/** When a schedule is due. */
type ScheduleTime =
  | {
      /** Once, at this time, in milliseconds since 1970; at once if it has passed. */
      readonly at: number | Date;
      readonly every?: never;
      readonly cron?: never;
      readonly timeZone?: never;
    }
  | {
      /** Every so many milliseconds, an integer of at least 1,000. Does not drift: all times are this far apart. */
      readonly every: number;
      readonly at?: never;
      readonly cron?: never;
      readonly timeZone?: never;
    }
  | {
      /** At the times of a cron expression with five fields, such as `0 9 * * 1-5`. */
      readonly cron: string;
      /** The IANA zone of the expression, such as `Europe/Berlin`. Default: `UTC`. */
      readonly timeZone?: string;
      readonly at?: never;
      readonly every?: never;
    };

/** The options of `session.schedule`: one of `at`, `every` and `cron`, and the message that the session receives then. */
export type ScheduleOptions = ScheduleTime & {
  readonly message: string;
  /** What becomes of times at which no process ran the session: all together run `once`, the default, or one that is over a minute late is skipped. */
  readonly missed?: Schedule["missed"];
  /** Default: a random id. */
  readonly id?: string;
};

const forms: OptionForms<Record<"at" | "every" | "cron" | keyof ScheduleOptions, unknown>> = {
  at: { expectation: "a time", fits: (at) => Number.isFinite(Number(at)) && at !== null && at !== "" },
  every: {
    expectation: "an integer of at least 1000 milliseconds",
    fits: (every) => typeof every === "number" && Number.isSafeInteger(every) && every >= 1_000,
  },
  cron: "string",
  timeZone: { expectation: "an IANA time zone", fits: isTimeZone },
  message: { expectation: "a text", fits: (text) => typeof text === "string" },
  missed: { expectation: '"once" or "skip"', fits: (missed) => missed === "once" || missed === "skip" },
  id: "string",
};

function isTimeZone(timeZone: unknown): boolean {
  if (typeof timeZone !== "string") return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/**
 * Creates the input that sets a schedule, with its first due time: for hosts without a session; `session.schedule` calls it. `by` defaults
 * to "application", `timestamp` to the current time. Rejects with `InputRefused` for invalid options.
 */
export async function scheduleInput(
  options: ScheduleOptions,
  about: {
    readonly by?: string;
    readonly timestamp?: number;
    readonly newId?: (prefix: string) => string;
  } = {},
): Promise<ScheduleChangedInput> {
  const { by = "application", timestamp = Date.now(), newId = randomId } = about;
  checkArgument("options", "schedule", options, forms);
  checkOptionalId("options.id", options.id);
  checkText("options.message", options.message);
  checkText("by", by);
  const { message, missed = "once", id = newId("schedule") } = options;
  const schedule = { ...(await timeOf(options, timestamp)), message: message.toWellFormed(), missed };
  return { type: "schedule-changed", scheduleId: id, schedule, by: by.toWellFormed(), timestamp };
}

async function timeOf(options: ScheduleOptions, now: number): Promise<Pick<Schedule, "when" | "due">> {
  const { at, every, cron, timeZone } = options;
  const given = Object.entries({ at, every, cron }).flatMap(([name, value]) =>
    value === undefined ? [] : [name],
  );
  if (given.length !== 1)
    throw refused("options", `must have one of at, every and cron, got ${given.join(" and ") || "none"}.`);
  if (timeZone !== undefined && cron === undefined) throw refused("options.timeZone", "is only for cron.");
  if (at !== undefined) return { when: { at: Number(at) }, due: Math.max(Number(at), now) };
  if (every !== undefined) return { when: { every }, due: now + every };
  return {
    when: { cron, timeZone: timeZone ?? "UTC" },
    due: await firstOfCron(cron, timeZone ?? "UTC", now),
  };
}

async function firstOfCron(cron: string, timeZone: string, now: number): Promise<number> {
  let due: number | undefined;
  try {
    due = await nextCron(cron, timeZone, now);
  } catch (error) {
    throw refused(
      "options.cron",
      `must be a cron expression with five fields, got ${shownValue(cron)}: ${errorText(error)}`,
    );
  }
  if (due === undefined) throw refused("options.cron", `must be due some time, got ${shownValue(cron)}.`);
  return due;
}

const refused = (path: string, message: string): InputRefused =>
  new InputRefused({ code: "wrong-shape", path, message });

/** The methods that set and remove schedules, which any process with access to the session may call. */
export const scheduleMethods = ({
  base: { clock, newId },
  outside,
  subAgents,
}: Pick<SessionParts<never>, "base" | "outside" | "subAgents">): Pick<
  Session,
  "schedule" | "unschedule"
> => ({
  async schedule(options, by) {
    outside.check();
    const input = await scheduleInput(options, {
      ...(by === undefined ? {} : { by }),
      timestamp: clock.now(),
      newId,
    });
    if (subAgents.isOfCall) throw new InputRefused({ ...noSchedule, code: "sub-agent" });
    const receipt = await outside.dispatch(input);
    if (receipt.status === "ignored" && receipt.reason !== "nothing-new")
      throw new InputRefused({
        ...noSchedule,
        code: receipt.reason,
        message: `was ignored: ${receipt.reason}.`,
      });
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

const noSchedule = {
  path: "options",
  message: "cannot be set for a sub-agent: its session ends with its task.",
};
