import { pruneSessions, stateAt, type PruneReport } from "@moora/agent";
import { isLoopRunning } from "@moora/agent-core-state-machine";
import { exitCodes } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { ageHint } from "../options.ts";
import { openArchive } from "../session/archive-target.ts";
import { sessionCommand, type SessionCall } from "../session/session-call.ts";
import { usageError } from "../cli-failure.ts";

/** Removes or archives old sessions. */
export const pruneCommand: Command = sessionCommand({
  name: "prune",
  usage: "",
  summary: "Remove sessions that have not changed for a time, or archive them.",
  options: ["older-than", "archive", "keep-open", "dry-run"],
  optionHelp: {
    archive: "Move the sessions to this log: FILE.db, a folder, postgres://... Default: remove them.",
  },
  async run(call) {
    const { log, options, host, print } = call;
    const age = options["older-than"];
    if (age === undefined) throw usageError("Missing --older-than.", ageHint);
    const before = host.clock.now() - age;
    const dryRun = options["dry-run"] === true;
    await using archive =
      options.archive === undefined ? undefined : await openArchive(call, { creates: !dryRun });
    const report = await pruneSessions(log, {
      before,
      dryRun,
      clock: host.clock,
      keep: async ({ id }) => options["keep-open"] === true && isLoopRunning((await stateAt(log, id)).state),
      ...(archive && { archive: archive.log }),
    });
    print({ ...report, dryRun }, textOf(call, report));
    return exitCodes.answered;
  },
});

function textOf({ options }: SessionCall, { pruned, kept, incomplete }: PruneReport): string {
  const would = options["dry-run"] === true ? "would be " : "";
  const done = options.archive !== undefined ? "archived" : "removed";
  const lines = [
    ...incomplete.map((id) => `${id}  ${would}removed: it was never completed`),
    ...pruned.map((id) => `${id}  ${would}${done}`),
    ...kept.map(({ id, reason }) => `${id}  kept: ${reason === "kept" ? "open" : reason}`),
  ];
  return lines.length === 0 ? "Nothing to prune." : lines.join("\n");
}
