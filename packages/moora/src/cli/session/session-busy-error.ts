import { CliFailure } from "../cli-failure.ts";
import { exitCodes } from "../cli-host.ts";
import type { CommandHints } from "./command-hints.ts";

/** The failure of a command that would run a session which another process runs. */
export const sessionBusyError = (message: string, id: string, hints: CommandHints): CliFailure =>
  new CliFailure(
    exitCodes.busy,
    `${message}\nTo send it a message: ${hints.command("send", id, "...")}\n` +
      `To watch it: ${hints.command("log", id, "--follow")}`,
  );
