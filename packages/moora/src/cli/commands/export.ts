import { exportSession, readHeader } from "@moora/agent";
import { exitCodes } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { sessionCommand } from "../session/session-call.ts";
import { writeNewFile } from "../session/use-file.ts";

/** Writes a session to a file. */
export const exportCommand: Command = sessionCommand({
  name: "export",
  usage: "<session> [file]",
  summary: "Write a session to a new file, or to standard output.",
  async run({ log, id, args: [, file], host, print }) {
    await readHeader(log, id);
    const portable = await exportSession(log, id);
    if (file === undefined || file === "-") host.stdout.write(portable);
    else {
      writeNewFile(file, host.cwd, portable);
      print({ id, file }, `${id} is in ${file}.`);
    }
    return exitCodes.answered;
  },
});
