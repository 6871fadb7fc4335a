import { moveSession, SessionError, type MoveOptions } from "@moora/agent";
import { CliFailure } from "../cli-failure.ts";
import { exitCodes } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { openArchive } from "../session/archive-target.ts";
import { withCopyLostHint } from "../session/closed-session.ts";
import { sessionCommand, type SessionCall } from "../session/session-call.ts";
import { shellCommand } from "../shell-command.ts";

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
          throw await notArchivedError(call, archive.target.shown);
        throw await withCopyLostHint(error, { ...call, log: archive.log }, "restore");
      },
    );
    print({ id, moved, log: target.shown }, `${id} is in ${target.shown}.`);
    return exitCodes.answered;
  },
});

/** Where to look for a session that is not in the archive. */
async function notArchivedError(
  { log, id, target, options }: SessionCall,
  archive: string,
): Promise<CliFailure> {
  const isHere = (await log.open(id)) !== undefined;
  const lines = [
    `Session "${id}" not found in ${archive}.${isHere ? ` It is in ${target.shown}.` : ""}`,
    `To list the archive: ${shellCommand(["sessions", "--log", archive])}`,
    ...(options.archive === undefined ? ["For another archive: --archive WHERE"] : []),
  ];
  return new CliFailure(exitCodes.missing, lines.join("\n"));
}

const moveOptionsOf = ({ host, options }: SessionCall): MoveOptions => ({
  clock: host.clock,
  isCopyLost: options["copy-lost"] === true,
});
