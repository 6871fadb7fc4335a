import { verifySession } from "@moora/agent";
import { oneLine } from "@moora/agent-core-effects/internal";
import { exitCodes } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { sessionCommand } from "../session/session-call.ts";

/** Replays a session and compares each record with its digest. */
export const verifyCommand: Command = sessionCommand({
  name: "verify",
  usage: "<session>",
  summary: "Replay a session; name the first record that is not as written.",
  async run({ log, id, print }) {
    const report = await verifySession(log, id);
    if (report.ok) {
      const { seq, digest, unfinishedBytes } = report;
      const intact = `${id} is intact: ${seq} records, digest ${digest}.`;
      const unfinished =
        unfinishedBytes === 0
          ? []
          : [
              `An append after record ${seq} was not finished (${unfinishedBytes} bytes). It was never confirmed.`,
            ];
      print({ id, ...report }, [intact, ...unfinished].join("\n"));
      return exitCodes.answered;
    }
    const { seq, reason, message, changes = [] } = report;
    const found = changes.map((change) => `  ${oneLine(JSON.stringify(change))}`);
    print(
      { id, ...report },
      [
        `${id}, record ${seq}: ${reason}. ${message}`,
        ...(found.length === 0 ? [] : ["It changes now:", ...found]),
      ].join("\n"),
    );
    return exitCodes.failed;
  },
});
