import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";

/** Starts a process of this folder with services, and resolves at its first message. It gets these arguments. */
export async function startServiceProcess(
  file: string,
  args: readonly (string | number)[],
): Promise<ChildProcess> {
  const child = fork(`${import.meta.dirname}/children/${file}`, args.map(String), {
    execArgv: ["--conditions=@moora/source"],
    env: { ...process.env, RESTATE_LOGGING: "ERROR" },
    stdio: "ignore",
  });
  await hasStarted(child);
  return child;
}

async function hasStarted(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`The process with the agent has ended with exit code ${String(code)}.`);
  });
  await Promise.race([once(child, "message"), ended]);
  ended.catch(() => undefined);
}

/** Kills a process, unless it has ended. */
export async function killProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}
