import { InputRefused, type Schedule, type ScheduleOptions } from "@moora/agent";
import { oneLine } from "@moora/agent-core-effects/internal";
import { CliFailure, usageError } from "../cli-failure.ts";
import { exitCodes, type ExitCode } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { attachSession } from "../session/attach-session.ts";
import { sessionCommand, stateAtRecord, type SessionCall } from "../session/session-call.ts";
import { timeToText } from "../session/timeline.ts";

/** Sets, lists and removes the schedules of a session, whether or not a process runs it. */
export const scheduleCommand: Command = sessionCommand({
  name: "schedule",
  usage: "<session> [message...]",
  summary: "Send a message later or again and again; without one, list the schedules.",
  options: ["time", "every", "cron", "time-zone", "skip-missed", "id", "remove"],
  async run(call) {
    if (call.options.remove !== undefined) return await remove(call, call.options.remove);
    return call.args.length > 1 ? await set(call) : await list(call);
  },
});

async function set(call: SessionCall): Promise<ExitCode> {
  await using session = await attachSession(call, "post");
  try {
    const id = await session.schedule(optionsOf(call));
    const hint = `A process that has the session open keeps it, or ${call.hints.command("worker")}`;
    call.print({ id }, `Scheduled as ${id}. ${hint}`);
    return exitCodes.answered;
  } catch (error) {
    throw error instanceof InputRefused ? new CliFailure(exitCodes.refused, error.message) : error;
  }
}

function optionsOf({ args, options }: SessionCall): ScheduleOptions {
  const { time, every, cron, id, "time-zone": timeZone, "skip-missed": skips } = options;
  const at = time === undefined ? undefined : Date.parse(time);
  if (time !== undefined && !(/(?:Z|[+-]\d\d:\d\d)$/.test(time) && Number.isFinite(at)))
    throw usageError(
      `--time must be a time with an offset, got "${time}".`,
      "Use --time 2030-01-31T09:00:00Z.",
    );
  const given = { at, every, cron, timeZone, id, missed: skips && "skip", message: args.slice(1).join(" ") };
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  // The session refuses what does not fit together.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return set as unknown as ScheduleOptions;
}

async function list(call: SessionCall): Promise<ExitCode> {
  const { schedules } = (await stateAtRecord(call, undefined)).state;
  const open = schedules?.open ?? [];
  const lines = open.map(scheduleToText);
  call.print({ id: call.id, schedules: open }, lines.length === 0 ? "No schedules." : lines.join("\n"));
  return exitCodes.answered;
}

async function remove(call: SessionCall, id: string): Promise<ExitCode> {
  await using session = await attachSession(call, "post");
  const receipt = await session.unschedule(id);
  if (receipt.status === "ignored")
    throw new CliFailure(exitCodes.refused, `Session "${call.id}" has no schedule "${id}".`);
  call.print({ id, seq: receipt.seq }, `Removed ${id}.`);
  return exitCodes.answered;
}

/** A schedule as a line for people. */
export function scheduleToText({ id, when, due, by, message }: Schedule): string {
  const rule =
    "cron" in when ? `${when.cron} ${when.timeZone}` : "every" in when ? `every ${when.every} ms` : "once";
  return `${id}  ${timeToText(due)}  ${rule}  by ${by}: ${oneLine(message)}`;
}
