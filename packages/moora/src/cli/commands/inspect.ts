import { readHeader, recordsToPortable } from "@moora/agent";
import { errorText } from "@moora/agent-core-effects/internal";
import type { LogError, LogInspection } from "@moora/event-log";
import type { InspectorPage } from "@moora/inspector";
import { exitCodes } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { serveInspector } from "../inspector-server.ts";
import { sessionCommand, unknownSessionError, type SessionCall } from "../session/session-call.ts";
import { writeNewFile } from "../session/use-file.ts";
import { stopped } from "../with-server.ts";

/** Opens a session in the inspector: in a browser, or as a file. */
export const inspectCommand: Command = sessionCommand({
  name: "inspect",
  usage: "<session>",
  summary: "Show a session as a page: timeline and state at every record.",
  options: ["out", "port"],
  optionHelp: {
    port: "The port to listen on. Default: any free one.",
    json: "Print the address, or the file, as one JSON object.",
  },
  async run(call) {
    const { id, log, options, host, print, screen } = call;
    await readHeader(log, id);
    const file = options.out;
    if (file !== undefined) {
      const { html, damage } = await pageOf(call);
      writeNewFile(file, host.cwd, html);
      print({ id, file }, `${id} is in ${file}. Open it in a browser.`);
      if (damage !== undefined) throw damage;
      return exitCodes.answered;
    }
    const server = await serveInspector(
      options.port ?? 0,
      async () => {
        const page = await pageOf(call);
        if (page.damage !== undefined) screen.line(page.damage.message);
        return page;
      },
      (error) => screen.line(`moora: ${errorText(error)}`),
    );
    print({ id, url: server.url }, `${id} is at ${server.url}. A reload shows new records. Ctrl-C stops it.`);
    if (options.json !== true) host.openBrowser?.(server.url);
    const code = await stopped(host);
    await server.close();
    return code;
  },
});

/** A page with the records before the first damage, which it names. */
type PageOfLog = InspectorPage & Pick<LogInspection, "damage">;

async function pageOf(call: SessionCall): Promise<PageOfLog> {
  const { id, log } = call;
  const session = await log.open(id);
  if (session === undefined) throw unknownSessionError(id, call);
  const { records, damage } = await session.inspect();
  const { inspectorFile } = await import("@moora/inspector");
  const exported = recordsToPortable({ id, header: session.header, records });
  const page = await inspectorFile(exported, problemOf(damage, records.length));
  return { ...page, damage };
}

/** What the page shows about the damage. The message of the error names the file of the log, which a page must not. */
const problemOf = (damage: LogError | undefined, last: number): { readonly problem?: string } =>
  damage === undefined
    ? {}
    : {
        problem: `Record ${damage.seq ?? last + 1} of the log is damaged. This page ends with record ${last}.`,
      };
