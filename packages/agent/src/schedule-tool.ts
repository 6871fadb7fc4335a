import {
  defineTool,
  toolReply,
  type Tool,
  type ToolContext,
  type ToolReply,
} from "@moora/agent-core-effects";
import { callHostOf, refuse, type OptionForms } from "@moora/agent-core-effects/internal";
import { ignoredReason, type Schedule } from "@moora/agent-core-state-machine";
import { schedulesAt } from "@moora/agent-core-state-machine/internal";
import type { JsonObject } from "@moora/llm";
import { checkOptions } from "./check-options.ts";
import { scheduleInput, type ScheduleOptions } from "./session/schedules.ts";
import { SubAgents } from "./session/sub-agents.ts";

/** The options of `scheduleTool`. */
export interface ScheduleToolOptions {
  /** The most open wake-ups of a session that the agent has set. Default: 10. */
  readonly max?: number;
  readonly approval?: "always" | "never";
}

const forms: OptionForms<ScheduleToolOptions> = {
  max: "positiveInteger",
  approval: "any",
};

/** A call as the model writes it: the schema is that of the tool. */
interface Call extends Pick<ScheduleOptions, "id" | "at" | "cron" | "timeZone"> {
  readonly action: "set" | "list" | "cancel";
  readonly message?: string;
  readonly inMinutes?: number;
  readonly everyMinutes?: number;
}

const text = (description: string): JsonObject => ({ type: "string", description });

const input: JsonObject = {
  type: "object",
  properties: {
    action: { type: "string", enum: ["set", "list", "cancel"] },
    id: text("The id of a wake-up: to cancel it, or to set it anew."),
    message: text("What you need to know when you wake up."),
    inMinutes: { type: "number", exclusiveMinimum: 0, description: "Once, so many minutes from now." },
    everyMinutes: { type: "integer", minimum: 1, description: "Every so many minutes." },
    at: text("Once, at a time in ISO 8601 with an offset, such as 2030-01-31T09:00:00+01:00."),
    cron: text("At the times of a cron expression with five fields, such as 0 9 * * 1-5."),
    timeZone: text("The IANA time zone of cron, such as Europe/Berlin. Default: UTC."),
  },
  required: ["action"],
  additionalProperties: false,
};

/**
 * The tool `schedule`, with which an agent wakes itself up: the model sets, lists and cancels messages to its own session, each at most
 * once a minute. It sees and cancels only those that it has set: their `by` is null. Throws `BuildError` for invalid options.
 */
export function scheduleTool(options: ScheduleToolOptions = {}): Tool {
  checkOptions("scheduleTool", options, forms);
  const { max = 10, ...definition } = options;
  return defineTool({
    name: "schedule",
    description:
      "Wakes you up later: sends a message to this conversation at a time, or again and again. Actions: set (message, and one of " +
      "inMinutes, everyMinutes, at, cron), list, cancel (id).",
    input,
    // A call that runs again sets the same wake-up.
    replay: "safe",
    maxParallel: 1,
    ...definition,
    // The arguments fit the schema.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    execute: (call, context) => run(call as unknown as Call, max, context),
  });
}

const minuteMs = 60_000;

const failed = (content: string): ToolReply => toolReply({ content, isError: true });

const shownOf = ({ id, message, when, due }: Schedule): object => ({ id, message, when, due: isoOf(due) });

const isoOf = (time: number): string => new Date(time).toISOString();

async function run(call: Call, max: number, context: ToolContext): Promise<ToolReply | object | string> {
  const { host, state } = callHostOf(context) ?? {};
  if (host?.dispatchAtOnce === undefined || state === undefined)
    refuse("scheduleTool needs a host with dispatchAtOnce, which dispatches an input within a call.");
  if (SubAgents.of(context)?.endsWithTask === true)
    return failed("This session cannot have wake-ups, because it ends with its task.");
  const timestamp = host.clock.now();
  const open = schedulesAt(state());
  const own = open.filter((schedule) => schedule.by === null);
  const { action, id = `wake-up-${context.toolCallId}`, message = "", cron, timeZone } = call;
  if (action === "list") return own.map(shownOf);
  const isOwn = own.some((schedule) => schedule.id === id);
  if (!isOwn && (action === "cancel" || open.some((schedule) => schedule.id === id)))
    return failed(`You have no wake-up ${id}.`);
  if (action === "cancel") {
    await host.dispatchAtOnce({
      type: "schedule-changed",
      scheduleId: id,
      schedule: null,
      by: null,
      timestamp,
    });
    return `Canceled ${id}.`;
  }
  if (!isOwn && own.length >= max)
    return failed(`${max} wake-ups are the most that a session may have. Cancel one first.`);
  const { inMinutes, everyMinutes } = call;
  if (call.at !== undefined && inMinutes !== undefined) return failed("Give one of at and inMinutes.");
  const at = call.at ?? (inMinutes && timestamp + Math.round(inMinutes * minuteMs));
  const everyMs = everyMinutes && everyMinutes * minuteMs;
  const given = await scheduleInput({ at, everyMs, cron, timeZone, message, id }, { timestamp });
  const set = { ...given, by: null };
  const reason = ignoredReason(set)(state());
  if (reason !== undefined && reason !== "nothing-new") return failed(`The wake-up is refused: ${reason}.`);
  await host.dispatchAtOnce(set);
  return { id, due: isoOf(set.schedule?.due ?? 0) };
}
