import { removeSession } from "@moora/agent";
import { CliFailure } from "../cli-failure.ts";
import { exitCodes } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { sessionCommand } from "../session/session-call.ts";

/** Removes a session. */
export const removeCommand: Command = sessionCommand({
  name: "remove",
  usage: "<session>",
  summary: "Remove a session, with those of its sub-agents, also while it runs.",
  async run({ log, id, target, print }) {
    const removed = await removeSession(log, id);
    if (removed.length === 0)
      throw new CliFailure(exitCodes.missing, `Session "${id}" not found in ${target.shown}.`);
    print({ id, removed }, `Removed ${removed.join(", ")}.`);
    return exitCodes.answered;
  },
});
