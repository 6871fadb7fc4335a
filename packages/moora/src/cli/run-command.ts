import { AgentDesk } from "./agent-desk.ts";
import { exitCodes } from "./cli-host.ts";
import { agentOptions, type Command } from "./command.ts";
import { UsageError } from "./usage-error.ts";

/** One task, from the command line or from standard input. */
export const runCommand: Command = {
  name: "run",
  usage: "<task>",
  summary: "Do one task; - reads it from standard input.",
  options: agentOptions,
  async run(call, host) {
    const { words } = call;
    if (words.length === 0) throw noTask();
    await using desk = new AgentDesk(call, host);
    const isPiped = words.length === 1 && words[0] === "-";
    const task = isPiped ? await inputOf(desk) : words.join(" ");
    if (task === undefined) return exitCodes.cancelled;
    if (task.trim() === "") throw noTask();
    return await desk.turn(task.trim());
  },
};

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
