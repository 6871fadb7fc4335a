import type { AgentDesk } from "./agent-desk.ts";
import { exitCodes, type ExitCode } from "./cli-host.ts";
import { agentOptions, type Command } from "./command.ts";
import { UsageError } from "./usage-error.ts";

/** One task, from the command line or from standard input. */
export const runCommand: Command = {
  name: "run",
  usage: "<task...>",
  summary: "Do one task; - reads it from standard input. None: go on with a session.",
  options: agentOptions,
  async run(call, host) {
    const { words, options } = call;
    const isPiped = words.length === 1 && words[0] === "-";
    const isKept = options.has("session");
    if (words.length === 0 && !isKept) throw noTask();
    const { AgentDesk: Desk } = await import("./agent-desk.ts");
    await using desk = await Desk.open(call, host);
    const task = isPiped ? await inputOf(desk) : words.join(" ");
    if (task === undefined) return desk.isLeaving ? exitCodes.terminated : exitCodes.cancelled;
    return await done(task.trim(), desk);
  },
};

/** A task that is under way is not begun again: so the same line that a crash broke off goes on with it. */
async function done(task: string, desk: AgentDesk): Promise<ExitCode> {
  if (desk.isUnderWay && (task === "" || task === desk.lastMessage)) return await desk.goOn();
  if (task === "") throw noTask();
  return await desk.turn(task);
}

/** Everything up to the end of the input, undefined when it was interrupted. */
async function inputOf(desk: AgentDesk): Promise<string | undefined> {
  const lines: string[] = [];
  for (;;) {
    const read = await desk.line("");
    if (read.type === "end") return lines.join("\n");
    if (read.type !== "line") return undefined;
    lines.push(read.text);
  }
}

const noTask = (): UsageError =>
  new UsageError(
    "There is no task.",
    'Say moora run "what to do", or moora run - to read it from standard input.',
  );
