import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { recordsToPortable } from "@moora/agent";
import { exitCodes } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { sessionCommand, unknownSessionError } from "../session/session-call.ts";
import { writeNewFile } from "../session/use-file.ts";

/** Writes a session as a page of the inspector, and opens it in a browser unless `--out` names a file. */
export const inspectCommand: Command = sessionCommand({
  name: "inspect",
  usage: "<session>",
  summary: "Show a session as a page: timeline and state at every record.",
  options: ["out"],
  optionHelp: { json: "Print the file as one JSON object." },
  async run(call) {
    const { id, log, options, host, print } = call;
    const session = await log.open(id);
    if (session === undefined) throw unknownSessionError(id, call);
    const { records, damage } = await session.inspect();
    const { inspectorFile } = await import("@moora/inspector");
    const exported = recordsToPortable({ id, header: session.header, records });
    // The message of the error names the file of the log, which a page must not.
    const problem = `Record ${damage?.seq ?? records.length + 1} of the log is damaged. This page ends with record ${records.length}.`;
    const { html } = await inspectorFile(exported, damage === undefined ? {} : { problem });
    // Only the owner of the process can read the folder.
    const file = options.out ?? join(mkdtempSync(join(tmpdir(), "moora-")), "session.html");
    writeNewFile(file, host.cwd, html);
    print({ id, file }, `${id} is in ${file}. Open it in a browser.`);
    if (options.out === undefined && options.json !== true) host.openBrowser?.(pathToFileURL(file).href);
    if (damage !== undefined) throw damage;
    return exitCodes.answered;
  },
});
