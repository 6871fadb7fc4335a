import type { AgentState } from "@moora/agent";
import { isLoopRunning } from "@moora/agent-core-state-machine";
import { CliFailure } from "../cli-failure.ts";
import { exitCodes, type CliHost } from "../cli-host.ts";
import type { CommandCall } from "../command.ts";
import { CommandHints } from "./command-hints.ts";
import { logTargetOf, withLog } from "./session-call.ts";
import { sessionState } from "./attach-session.ts";

/**
 * Throws `CliFailure` where `--session` names a session that does not exist, or whose last task is finished. One whose task has failed
 * may be opened: its next attempt then has the limits of the agent as it is now.
 */
export async function checkResumable(call: CommandCall, host: CliHost): Promise<void> {
  const id = call.options.session ?? "";
  await withLog(call.options, host, false, async ({ log, target }) => {
    const state = await sessionState(log, id, host);
    if (state === undefined) {
      const start = hintsFor(call, host).command("run", "...", "--session", id);
      const text = `Session "${id}" not found in ${target.shown}. Start one with ${start}`;
      throw new CliFailure(exitCodes.missing, text);
    }
    if (isLoopRunning(state) || state.reActContext.control.type === "Error") return;
    throw nothingToResume(call, host, state);
  });
}

/** The failure where the session of `--session` has nothing in progress, with the commands that continue it. */
export function nothingToResume(call: CommandCall, host: CliHost, state: AgentState): CliFailure {
  const id = call.options.session ?? "";
  const hints = hintsFor(call, host);
  const task = `Give it a task: ${hints.command("run", "...", "--session", id)}`;
  return new CliFailure(
    exitCodes.refused,
    `Nothing to resume in session "${id}": ${endText(state, hints.command("retry", id))} ${task}`,
  );
}

const hintsFor = ({ options }: CommandCall, host: CliHost): CommandHints =>
  new CommandHints({ options, target: logTargetOf(options, host) });

function endText({ reActContext: { control } }: AgentState, retry: string): string {
  if (control.type === "Idle") return "it has no task yet.";
  if (control.type !== "Error") return "its last task is finished.";
  const { kind, message } = control.failure;
  const end = kind === "Cancelled" ? "its last task was canceled." : `its last task failed: ${message}`;
  return `${end} Try it again: ${retry}.`;
}
