import type { AgentTerminal } from "../terminal/agent-terminal.ts";
import { exitCodes, type CliHost, type ExitCode } from "../cli-host.ts";
import { agentOptions, type Command, type CommandCall } from "../command.ts";
import { pipedTask } from "../piped-task.ts";
import { checkResumable, nothingToResume } from "../session/check-resumable.ts";
import { usageError, type CliFailure } from "../cli-failure.ts";

/** Runs one task, from the arguments or from standard input. */
export const runCommand: Command = {
  name: "run",
  usage: "<task...>",
  summary: "Run one task; - reads it from stdin. Without a task: resume --session.",
  options: agentOptions,
  async run(call, host) {
    const task = await taskOf(call, host);
    if (task.type === "canceled") return exitCodes.canceled;
    if (task.type === "task" && task.text === "") throw missingTaskError();
    if (task.type === "resume") await checkResumable(call, host);
    const { AgentTerminal: Terminal } = await import("../terminal/agent-terminal.ts");
    await using terminal = await Terminal.open(call, host);
    const text = task.type === "typed" ? await typedTask(terminal) : task.type === "task" ? task.text : "";
    if (text === undefined) return terminal.isStopping ? exitCodes.terminated : exitCodes.canceled;
    if (text === "" && task.type === "typed") throw missingTaskError();
    if (task.type === "resume" && !terminal.hasResumedLoop)
      throw nothingToResume(call, host, terminal.session.current());
    return await runTask(text, terminal);
  },
};

type GivenTask =
  | { readonly type: "task"; readonly text: string }
  | { readonly type: "resume" }
  /** To be typed on the terminal. */
  | { readonly type: "typed" }
  | { readonly type: "canceled" };

async function taskOf({ args, options }: CommandCall, host: CliHost): Promise<GivenTask> {
  if (args.length === 0) {
    if (options.session !== undefined) return { type: "resume" };
    throw missingTaskError();
  }
  const readsAll = args.at(-1) === "-";
  const task = (readsAll ? args.slice(0, -1) : args).join(" ").trim();
  const isTerminal = host.stdin.isTTY === true;
  const isTaken = options["approve-from-stdin"] === true;
  if (readsAll && isTaken)
    throw usageError('"-" and --approve-from-stdin cannot both read standard input.', "");
  if (isTerminal && readsAll && task === "") return { type: "typed" };
  if ((isTerminal && !readsAll) || isTaken) return { type: "task", text: task };
  const text = await pipedTask(task, readsAll, host);
  return text === undefined ? { type: "canceled" } : { type: "task", text };
}

/** A task that is in progress is not started again: the same command after a crash resumes it. */
async function runTask(task: string, terminal: AgentTerminal): Promise<ExitCode> {
  if (terminal.hasResumedLoop && (task === "" || task === terminal.lastMessage))
    return await terminal.resume();
  return await terminal.ask(task);
}

/** Everything that is typed until Ctrl-D. Undefined when it was interrupted. */
async function typedTask(terminal: AgentTerminal): Promise<string | undefined> {
  const lines: string[] = [];
  for (;;) {
    const read = await terminal.readLine("");
    if (read.type === "end") return lines.join("\n").trim();
    if (read.type !== "line") return undefined;
    lines.push(read.text);
  }
}

const missingTaskError = (): CliFailure =>
  usageError("Missing task.", 'Use moora run "what to do", or moora run - to read it from standard input.');
