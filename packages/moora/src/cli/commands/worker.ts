import { describingOptions, type Command } from "../command.ts";
import { graceMs, stopped, withServer } from "../with-server.ts";

/** Runs the sessions of a log whose work is due, until it is stopped. */
export const workerCommand: Command = {
  name: "worker",
  usage: "",
  summary: "Run sessions whose work is due and that no process runs, until Ctrl-C.",
  options: ["agent", "log", "verbose", ...describingOptions, "exclude", "help"],
  run: (call, host) =>
    withServer(
      { name: "worker", call, host, worker: true, listens: false },
      async ({ server, agents, shown, screen }) => {
        const names = agents.map(({ name }) => name).join(", ");
        screen.result(`Working on the sessions of ${names} in ${shown}. Ctrl-C stops the worker.\n`);
        const code = await stopped(host);
        await server.close({ graceMs });
        return code;
      },
    ),
};
