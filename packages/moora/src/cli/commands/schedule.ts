import type { Schedule } from "@moora/agent";
import { oneLine } from "@moora/agent-core-effects/internal";
import { CliFailure } from "../cli-failure.ts";
import { exitCodes } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { attachSession } from "../session/attach-session.ts";
import { sessionCommand } from "../session/session-call.ts";
import { timeToText } from "../session/timeline.ts";

/** Sets, lists and removes the schedules of a session, whether or not a process runs it. */
export const scheduleCommand: Command = sessionCommand({
  name: "schedule",
  usage: "<session> [message...]",
  summary: "Send a message later or again and again; without one, list the schedules.",
  options: ["time", "every", "cron", "time-zone", "skip-missed", "id", "remove"],
  async run(call) {
    await using session = await attachSession(call, "post");
    const { remove } = call.options;
    if (remove !== undefined) {
      if ((await session.unschedule(remove)).status === "ignored")
        throw new CliFailure(exitCodes.refused, `Session "${call.id}" has no schedule "${remove}".`);
      call.print({ id: remove }, `Removed ${remove}.`);
    } else if (call.args.length > 1) {
      const { time: at, every: everyMs, cron, id: given, "time-zone": timeZone } = call.options;
      const missed = call.options["skip-missed"] === true ? "skip" : "once";
      const message = call.args.slice(1).join(" ");
      const id = await session.schedule({ at, everyMs, cron, timeZone, missed, message, id: given });
      const hint = `A process that has the session open keeps it, or ${call.hints.command("worker")}`;
      call.print({ id }, `Scheduled as ${id}. ${hint}`);
    } else {
      const { open = [] } = session.current().schedules ?? {};
      call.print({ schedules: open }, open.map(scheduleToText).join("\n") || "No schedules.");
    }
    return exitCodes.answered;
  },
});

/** A schedule as a line for people. */
export function scheduleToText({ id, when, due, by, message }: Schedule): string {
  const rule =
    "cron" in when
      ? `${when.cron} ${when.timeZone}`
      : "everyMs" in when
        ? `every ${when.everyMs} ms`
        : "once";
  return `${id}  ${timeToText(due)}  ${rule}  by ${by ?? "the agent"}: ${oneLine(message)}`;
}
