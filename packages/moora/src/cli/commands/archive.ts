import { moveSession } from "@moora/agent";
import { exitCodes } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { openArchive } from "../session/archive-target.ts";
import { moveOptionsOf } from "../session/move-options.ts";
import { sessionCommand } from "../session/session-call.ts";

/** Moves a session to the archive. */
export const archiveCommand: Command = sessionCommand({
  name: "archive",
  usage: "<session>",
  summary: "Move a session to the archive, with those of its sub-agents.",
  options: ["archive", "copy-lost"],
  async run(call) {
    const { log, id, print } = call;
    await using archive = await openArchive(call, { creates: true });
    const moved = await moveSession(log, id, archive.log, moveOptionsOf(call));
    print({ id, moved, archive: archive.target.shown }, `${id} is in ${archive.target.shown}.`);
    return exitCodes.answered;
  },
});
