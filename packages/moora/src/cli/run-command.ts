import { AgentDesk } from "./agent-desk.ts";
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
    const task = (isPiped ? await desk.lines.rest() : words.join(" ")).trim();
    if (task === "") throw noTask();
    return await desk.turn(task);
  },
};

const noTask = (): UsageError =>
  new UsageError(
    "There is no task.",
    'Say moora run "what to do", or moora run - to read it from standard input.',
  );
