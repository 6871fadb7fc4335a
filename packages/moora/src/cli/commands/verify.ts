import { verifySession, type SessionError, type VerifyReport } from "@moora/agent";
import { oneLine } from "@moora/agent-core-effects/internal";
import { exitCodes } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { closedErrorOf, closedToJson } from "../session/closed-session.ts";
import { sessionCommand } from "../session/session-call.ts";

/** Replays a session and compares each record with its digest. */
export const verifyCommand: Command = sessionCommand({
  name: "verify",
  usage: "<session>",
  summary: "Replay a session; name the first record that is not as written.",
  async run({ log, id, print }) {
    const report = await verifySession(log, id);
    if (!report.ok) {
      print({ id, ...report }, problemText(id, report));
      return exitCodes.failed;
    }
    const closed = await closedErrorOf({ log, id });
    if (closed?.code === "SessionIncomplete") {
      const { message } = closed;
      print({ id, ...report, ok: false, reason: "incomplete", message }, message);
      return exitCodes.failed;
    }
    print({ id, ...report, ...closedToJson(closed) }, intactText(id, report, closed));
    return exitCodes.answered;
  },
});

type ReportOf<Ok extends boolean> = Extract<VerifyReport, { readonly ok: Ok }>;

function intactText(
  id: string,
  { seq, digest, unfinishedBytes, foldedByOtherRules }: ReportOf<true>,
  closed: SessionError | undefined,
): string {
  const unfinished = `An append after record ${seq} was not finished (${unfinishedBytes} bytes). It was never confirmed.`;
  const others = `${foldedByOtherRules} of them were folded by other rules: what they changed then is not compared.`;
  return [
    `${id} is intact: ${seq} records, digest ${digest}.`,
    ...(foldedByOtherRules === 0 ? [] : [others]),
    ...(unfinishedBytes === 0 ? [] : [unfinished]),
    ...(closed === undefined ? [] : [closed.message]),
  ].join("\n");
}

function problemText(id: string, { seq, reason, message, changes = [] }: ReportOf<false>): string {
  const found = changes.map((change) => `  ${oneLine(JSON.stringify(change))}`);
  return [
    `${id}, record ${seq}: ${reason}. ${message}`,
    ...(found.length === 0 ? [] : ["It changes now:", ...found]),
  ].join("\n");
}
