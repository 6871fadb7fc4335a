import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { text as readText } from "node:stream/consumers";
import { importSession } from "@moora/agent";
import { exitCodes } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { sessionCommand, type SessionCall } from "../session/session-call.ts";
import { useFile } from "../session/use-file.ts";

/** Reads a session from an exported file. */
export const importCommand: Command = sessionCommand({
  name: "import",
  usage: "<file>",
  summary: "Read a session from an exported file; - is standard input.",
  options: ["to"],
  creates: true,
  async run(call) {
    const { log, options, print } = call;
    const { id, seq } = await importSession(log, await textOf(call), options.text("to"));
    print({ id, seq }, `${id} has ${seq} records.`);
    return exitCodes.answered;
  },
});

async function textOf({ args: [file = "-"], host }: SessionCall): Promise<string> {
  if (file === "-") return await readText(host.stdin);
  return useFile(file, () => readFileSync(resolve(host.cwd, file), "utf8"));
}
