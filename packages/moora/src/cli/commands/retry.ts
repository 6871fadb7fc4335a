import { failureToError } from "@moora/agent";
import { CliFailure } from "../cli-failure.ts";
import type { Command } from "../command.ts";
import { errorToExitCode, errorToMessage } from "../error-message.ts";
import { attachSession } from "../session/attach-session.ts";
import { resumeCommand } from "../session/decide-command.ts";
import { reportReceipt } from "../session/report-receipt.ts";
import { sessionCommand, stateAtRecord } from "../session/session-call.ts";

/** Tries the failed loop of a session again. The process that runs the session continues it. */
export const retryCommand: Command = sessionCommand({
  name: "retry",
  usage: "<session>",
  summary: "Try again what has failed. The process that runs the session continues it.",
  options: [],
  async run(call) {
    await using session = await attachSession(call, "post");
    const receipt = await session.retry();
    const exitCode = reportReceipt(call, receipt, "Tried again");
    if (receipt.status === "ignored") return exitCode;
    const { state } = await stateAtRecord(call, receipt.seq);
    const { control } = state.reActContext;
    const resume = await resumeCommand(call);
    if (control.type === "Error") {
      const error = failureToError(control.failure, state, session.trace());
      const advice = `It failed at once, and does so until its agent has other settings, which a run adopts: ${resume}`;
      throw new CliFailure(errorToExitCode(error), `${errorToMessage(error, undefined)} ${advice}`);
    }
    call.screen.dim(`If no process runs the session: ${resume}`);
    return exitCode;
  },
});
