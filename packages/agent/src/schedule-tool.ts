import {
  defineTool,
  toolReply,
  type Tool,
  type ToolContext,
  type ToolReply,
} from "@moora/agent-core-effects";
import { callHostOf, refuse, type OptionForms } from "@moora/agent-core-effects/internal";
import { ignoredReason, type AgentState, type Schedule } from "@moora/agent-core-state-machine";
import { schedulesAt } from "@moora/agent-core-state-machine/internal";
import type { JsonObject } from "@moora/llm";
import { checkOptions } from "./check-options.ts";
import { nextCron } from "./next-cron.ts";
import { scheduleInput, type ScheduleOptions } from "./session/schedules.ts";
import { InputRefused } from "./session/session.ts";
import { SubAgents } from "./session/sub-agents.ts";

/** The options of `scheduleTool`. */
export interface ScheduleToolOptions {
  /** The most open wake-ups of a session that the agent has set. Default: 10. */
  readonly max?: number;
  /** The shortest time between two wake-ups of one schedule, in milliseconds. Default: 60,000. */
  readonly minEveryMs?: number;
  readonly approval?: "always" | "never";
}

const minuteMs = 60_000;

const positive = {
  expectation: "a positive integer",
  fits: (n: unknown) => Number.isSafeInteger(n) && Number(n) > 0,
};

const forms: OptionForms<ScheduleToolOptions> = { max: positive, minEveryMs: positive, approval: "any" };

/** A call as the model writes it: the schema is that of the tool. */
interface Call {
  readonly action: "set" | "list" | "cancel";
  readonly id?: string;
  readonly message?: string;
  readonly inMinutes?: number;
  readonly everyMinutes?: number;
  readonly at?: string;
  readonly cron?: string;
  readonly timeZone?: string;
}

const text = (description: string): JsonObject => ({ type: "string", description });

const number = (description: string): JsonObject => ({ type: "number", exclusiveMinimum: 0, description });

/**
 * The tool `schedule`, with which an agent wakes itself up: the model sets, lists and cancels messages to its own session. It sees and
 * cancels only those that it has set: `by` is "agent". Throws `BuildError` for invalid options.
 */
export function scheduleTool(options: ScheduleToolOptions = {}): Tool {
  checkOptions("scheduleTool", options, forms);
  const { max = 10, minEveryMs = minuteMs, ...definition } = options;
  return defineTool({
    name: "schedule",
    description:
      "Wakes you up later: sends a message to this conversation at a time, or again and again. Actions: set (message, and one of " +
      "inMinutes, everyMinutes, at, cron), list, cancel (id).",
    input: {
      type: "object",
      properties: {
        action: { type: "string", enum: ["set", "list", "cancel"] },
        id: text("The id of a wake-up: to cancel it, or to set it anew."),
        message: text("What you need to know when you wake up."),
        inMinutes: number("Once, so many minutes from now."),
        everyMinutes: number("Every so many minutes."),
        at: text("Once, at a time in ISO 8601 with an offset, such as 2030-01-31T09:00:00+01:00."),
        cron: text("At the times of a cron expression with five fields, such as 0 9 * * 1-5."),
        timeZone: text("The IANA time zone of cron, such as Europe/Berlin. Default: UTC."),
      },
      required: ["action"],
      additionalProperties: false,
    },
    replay: "safe",
    maxParallel: 1,
    ...definition,
    async execute(args, context) {
      if (SubAgents.of(context)?.isOfCall === true)
        return failed("A sub-agent has no wake-ups: its session ends.");
      // The arguments fit the schema.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const call = args as unknown as Call;
      const own = ownAt(hostOf(context).state());
      if (call.action === "list")
        return own.map(({ id, message, when, due }) => ({ id, message, when, due: isoOf(due) }));
      if (call.action === "cancel") return await cancel(call.id ?? "", own, context);
      if (own.length >= max && own.every(({ id }) => id !== call.id))
        return failed(`You have ${max} wake-ups, which is the most. Cancel one first.`);
      return await set(call, minEveryMs, context);
    },
  });
}

const by = "agent";

const ownAt = (state: AgentState): readonly Schedule[] =>
  schedulesAt(state).filter((schedule) => schedule.by === by);

const isoOf = (time: number): string => new Date(time).toISOString();

const failed = (content: string): ToolReply => toolReply({ content, isError: true });

/** The host of a call. Throws `BuildError` where inputs cannot be dispatched in the middle of a call. */
function hostOf(context: ToolContext): Required<NonNullable<ReturnType<typeof callHostOf>>["host"]> & {
  readonly state: () => AgentState;
} {
  const { host, state } = callHostOf(context) ?? {};
  if (host?.dispatchAtOnce === undefined || state === undefined)
    refuse(
      "scheduleTool cannot change its session here: give it to an agent whose sessions or effects run asynchronously.",
    );
  return { clock: host.clock, dispatchAtOnce: host.dispatchAtOnce, state };
}

async function cancel(
  id: string,
  own: readonly Schedule[],
  context: ToolContext,
): Promise<ToolReply | string> {
  if (own.every((schedule) => schedule.id !== id)) return failed(`You have no wake-up ${id}.`);
  const { dispatchAtOnce, clock } = hostOf(context);
  await dispatchAtOnce({
    type: "schedule-changed",
    scheduleId: id,
    schedule: null,
    by,
    timestamp: clock.now(),
  });
  return `Canceled ${id}.`;
}

async function set(call: Call, minEveryMs: number, context: ToolContext): Promise<ToolReply | object> {
  const { dispatchAtOnce, clock, state } = hostOf(context);
  const timestamp = clock.now();
  // Equal in every attempt of the call.
  const { id = `wake-up-${context.toolCallId}` } = call;
  if (schedulesAt(state()).some((other) => other.id === id && other.by !== by))
    return failed(`You have no wake-up ${id}.`);
  try {
    const input = await scheduleInput(optionsOf({ ...call, id }, timestamp), { by, timestamp });
    const due = input.schedule?.due ?? 0;
    if ((await everyMsOf(input.schedule, due)) < minEveryMs)
      return failed(`Wake-ups must be at least ${minEveryMs / minuteMs} minutes apart.`);
    const reason = ignoredReason(input)(state());
    if (reason !== undefined && reason !== "nothing-new") return failed(`The wake-up is refused: ${reason}.`);
    await dispatchAtOnce(input);
    return { id, due: isoOf(due) };
  } catch (error) {
    if (error instanceof InputRefused) return failed(error.message);
    throw error;
  }
}

/** The time between two wake-ups. */
async function everyMsOf(schedule: Pick<Schedule, "when"> | null, due: number): Promise<number> {
  const when = schedule?.when ?? { at: due };
  if ("at" in when) return Infinity;
  return "every" in when ? when.every : ((await nextCron(when.cron, when.timeZone, due)) ?? Infinity) - due;
}

/** The options of a call. What is wrong with them is refused as for `session.schedule`. */
function optionsOf({ inMinutes, everyMinutes, at, action: _, ...same }: Call, now: number): ScheduleOptions {
  const once = inMinutes === undefined ? at && timeOf(at) : now + Math.round(inMinutes * minuteMs);
  const given = { ...same, at: once, every: everyMinutes && Math.round(everyMinutes * minuteMs) };
  const options = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  // Checked where they are used.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return options as unknown as ScheduleOptions;
}

/** A time in ISO 8601. Not a number for one without an offset: it is a time of no zone. */
const timeOf = (text: string): number => (/(?:Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN);
