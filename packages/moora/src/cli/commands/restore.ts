import { moveSession, SessionError } from "@moora/agent";
import { CliFailure } from "../cli-failure.ts";
import { exitCodes } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { openArchive } from "../session/archive-target.ts";
import { sessionCommand } from "../session/session-call.ts";

/** Moves a session back from the archive. */
export const restoreCommand: Command = sessionCommand({
  name: "restore",
  usage: "<session>",
  summary: "Move a session back from the archive.",
  options: ["archive"],
  creates: true,
  async run(call) {
    const { log, id, host, target, print } = call;
    await using archive = await openArchive(call, { creates: false });
    const moved = await moveSession(archive.log, id, log, { clock: host.clock }).catch((error: unknown) => {
      if (!(error instanceof SessionError) || error.code !== "SessionUnknown") throw error;
      throw new CliFailure(exitCodes.missing, `Session "${id}" not found in ${archive.target.shown}.`);
    });
    print({ id, moved, log: target.shown }, `${id} is in ${target.shown}.`);
    return exitCodes.answered;
  },
});
