import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { text as readText } from "node:stream/consumers";
import { importSession } from "@moora/agent";
import { LogError } from "@moora/event-log";
import { CliFailure } from "../cli-failure.ts";
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
    const text = await textOf(call);
    const { id, seq } = await importSession(log, text, options.to).catch((error: unknown) => {
      throw error instanceof LogError && error.code === "LogCorrupt" ? unreadableError(call, error) : error;
    });
    print({ id, seq }, `${id} has ${seq} records.`);
    return exitCodes.answered;
  },
});

/** The text is damaged, not the log. */
const unreadableError = ({ args: [file = "-"] }: SessionCall, { message }: LogError): CliFailure =>
  new CliFailure(
    exitCodes.unreadable,
    `${file === "-" ? "Standard input" : file} cannot be imported. ${message}`,
  );

async function textOf({ args: [file = "-"], host }: SessionCall): Promise<string> {
  if (file === "-") return await readText(host.stdin);
  return useFile(file, () => readFileSync(resolve(host.cwd, file), "utf8"));
}
