import { pruneSessions, type PruneReport } from "@moora/agent";
import { exitCodes } from "../cli-host.ts";
import type { Command } from "../command.ts";
import type { GivenOptions } from "../options.ts";
import { openArchive } from "../session/archive-target.ts";
import { sessionCommand } from "../session/session-call.ts";
import type { SessionCall } from "../session/open-call.ts";
import { UsageError } from "../usage-error.ts";

/** Removes or archives old sessions. */
export const pruneCommand: Command = sessionCommand({
  name: "prune",
  usage: "",
  summary: "Remove sessions that have not changed for a time, or archive them.",
  options: ["older-than", "archive", "dry-run"],
  optionHelp: {
    archive: "Move the sessions to this log: FILE.db, a folder, postgres://... Default: remove them.",
  },
  async run(call) {
    const { log, options, host, print } = call;
    const before = host.clock.now() - ageOf(options);
    const dryRun = options.has("dry-run");
    const common = { before, dryRun, clock: host.clock };
    const report = options.has("archive") ? await toArchive(call, common) : await pruneSessions(log, common);
    print({ ...report, dryRun }, textOf(call, report));
    return exitCodes.answered;
  },
});

type Common = Pick<Parameters<typeof pruneSessions>[1], "before" | "dryRun" | "clock">;

async function toArchive(call: SessionCall, common: Common): ReturnType<typeof pruneSessions> {
  await using archive = await openArchive(call, { creates: common.dryRun !== true });
  return await pruneSessions(call.log, { ...common, archive: archive.log });
}

function textOf({ options }: SessionCall, { pruned, kept, incomplete }: PruneReport): string {
  const would = options.has("dry-run") ? "would be " : "";
  const done = options.has("archive") ? "archived" : "removed";
  const lines = [
    ...incomplete.map((id) => `${id}  ${would}removed: it was never completed`),
    ...pruned.map((id) => `${id}  ${would}${done}`),
    ...kept.map(({ id, reason }) => `${id}  kept: ${reason}`),
  ];
  return lines.length === 0 ? "Nothing to prune." : lines.join("\n");
}

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** The age in milliseconds. Throws `UsageError` without one. */
function ageOf(options: GivenOptions): number {
  const text = options.text("older-than");
  const [, count, unit] = /^([1-9]\d{0,5})([mhd])$/.exec(text ?? "") ?? [];
  if (unit === "m" || unit === "h" || unit === "d") return Number(count) * unitMs[unit];
  const problem =
    text === undefined
      ? "Missing --older-than."
      : `--older-than must be a whole number above 0 with m, h or d, got "${text}".`;
  throw new UsageError(
    problem,
    "For sessions that have not changed for 30 days: moora prune --older-than 30d",
  );
}
