import type { AgentState } from "@moora/agent";
import { isLoopRunning } from "@moora/agent-core-state-machine";
import { CliFailure } from "../cli-failure.ts";
import { exitCodes, type CliHost } from "../cli-host.ts";
import type { CommandCall } from "../command.ts";
import { CommandHints } from "./command-hints.ts";
import { withLog } from "./session-call.ts";
import { sessionState } from "./session-state.ts";

/** Throws `CliFailure` where `--session` names a session that does not exist, or has nothing in progress. */
export async function checkResumable(call: CommandCall, host: CliHost): Promise<void> {
  const id = call.options.text("session") ?? "";
  await withLog(call.options, host, false, async ({ log, target }) => {
    const hints = new CommandHints({ options: call.options, target });
    const state = await sessionState(log, id, host);
    const start = `Start one with ${hints.command("run", "...", "--session", id)}`;
    if (state === undefined)
      throw new CliFailure(exitCodes.missing, `Session "${id}" not found in ${target.shown}. ${start}`);
    if (isLoopRunning(state)) return;
    const task = `Give it a task: ${hints.command("run", "...", "--session", id)}`;
    throw new CliFailure(
      exitCodes.refused,
      `Nothing to resume in session "${id}": ${endText(state)} ${task}`,
    );
  });
}

function endText({ reActContext: { control } }: AgentState): string {
  if (control.type === "Idle") return "it has no task yet.";
  if (control.type !== "Error") return "its last task is finished.";
  const { kind, message } = control.failure;
  return kind === "Cancelled" ? "its last task was canceled." : `its last task failed: ${message}`;
}
