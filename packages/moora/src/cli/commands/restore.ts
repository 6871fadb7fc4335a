import { moveSession, SessionError } from "@moora/agent";
import { CliFailure } from "../cli-failure.ts";
import { exitCodes } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { openArchive } from "../session/archive-target.ts";
import { withCopyLostHint } from "../session/closed-session.ts";
import { moveOptionsOf } from "../session/move-options.ts";
import { sessionCommand } from "../session/session-call.ts";

/** Moves a session back from the archive. */
export const restoreCommand: Command = sessionCommand({
  name: "restore",
  usage: "<session>",
  summary: "Move a session back from the archive.",
  options: ["archive", "copy-lost"],
  creates: true,
  async run(call) {
    const { log, id, target, print } = call;
    await using archive = await openArchive(call, { creates: false });
    const moved = await moveSession(archive.log, id, log, moveOptionsOf(call)).catch(
      async (error: unknown) => {
        if (error instanceof SessionError && error.code === "SessionUnknown")
          throw new CliFailure(exitCodes.missing, `Session "${id}" not found in ${archive.target.shown}.`);
        throw await withCopyLostHint(error, { ...call, log: archive.log }, "restore");
      },
    );
    print({ id, moved, log: target.shown }, `${id} is in ${target.shown}.`);
    return exitCodes.answered;
  },
});
