import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { exportSession, readHeader } from "@moora/agent";
import { exitCodes } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { sessionCommand } from "../session/session-call.ts";
import { checkFolderOf, useFile } from "../session/use-file.ts";

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
      checkFolderOf(file, host.cwd);
      useFile(file, () => writeFileSync(resolve(host.cwd, file), portable, { flag: "wx" }));
      print({ id, file }, `${id} is in ${file}.`);
    }
    return exitCodes.answered;
  },
});
