import { flushCompileCache } from "node:module";
import { createInterface } from "node:readline";
import { DBOS } from "@dbos-inc/dbos-sdk";
import type { AgentInput } from "@moora/agent";
import type { DbosHost } from "@moora/dbos";

/** What a test sends to a process, as a line of JSON. `number` is that of the answer. */
export type Command =
  | {
      readonly number: number;
      readonly type: "post";
      readonly id: string;
      readonly input: AgentInput;
      readonly key?: string;
    }
  /** Waits for a control state of a session, or reads the one that it has. The answer is the control state. */
  | { readonly number: number; readonly type: "wait"; readonly id: string; readonly control: string }
  | { readonly number: number; readonly type: "read"; readonly id: string }
  /** Shuts DBOS down, with this time for its workflows, and then answers. The process continues. */
  | { readonly number: number; readonly type: "shut-down"; readonly graceMs: number }
  /** Lets tools continue that wait. */
  | { readonly number: number; readonly type: "release" }
  /** Resumes the workflows of all other processes, as a take-over does, also of those that still run. */
  | { readonly number: number; readonly type: "resume" };

/** What every process of a test is started with. */
export interface LaunchOrders {
  readonly url: string;
  readonly executor: string;
  /** Default: "1". */
  readonly applicationVersion?: string;
  /** The queues that it looks at. Default: all. */
  readonly listenQueues?: string[];
}

export async function launchDbos(orders: LaunchOrders): Promise<void> {
  const { url, executor, applicationVersion = "1", listenQueues } = orders;
  DBOS.setConfig({
    name: "moora",
    systemDatabaseUrl: url,
    applicationVersion,
    executorID: executor,
    logLevel: "error",
    ...(listenQueues === undefined ? {} : { listenQueues }),
  });
  await DBOS.launch();
  // A killed process would not write it.
  flushCompileCache();
}

/** Launches DBOS, prints `launched`, and answers commands until the process is killed. */
export async function serveCommands(
  host: DbosHost,
  orders: LaunchOrders,
  release = (): void => undefined,
): Promise<void> {
  await launchDbos(orders);
  console.log("launched");
  for await (const line of createInterface(process.stdin)) void print(host, JSON.parse(line), release);
}

/** Prints the answer of a command, or its error. */
async function print(host: DbosHost, command: Command, release: () => void): Promise<void> {
  if (command.type === "release") release();
  const answered = answer(host, command).catch((error: unknown) => shownError(error));
  console.log(`answer ${command.number} ${await answered}`);
}

const shownError = (error: unknown): string => {
  const { name = "", code = "" }: { readonly name?: string; readonly code?: string } = Object(error);
  return [name, code].join(" ").trim();
};

async function answer(host: DbosHost, command: Command): Promise<string> {
  switch (command.type) {
    case "post": {
      const { id, input, key } = command;
      return String(await host.post(id, input, key === undefined ? {} : { key }));
    }
    case "wait": {
      const { id, control } = command;
      const { reActContext } = await host.waitFor(id, (state) => state.reActContext.control.type === control);
      return reActContext.control.type;
    }
    case "read":
      return (await host.stateOf(command.id)).reActContext.control.type;
    case "resume": {
      const pending = await DBOS.listWorkflows({ status: "PENDING" });
      const others = pending.filter(({ executorId }) => executorId !== DBOS.executorID);
      await DBOS.resumeWorkflows(others.map(({ workflowID }) => workflowID));
      return "true";
    }
    case "shut-down":
      await DBOS.shutdown({ workflowCompletionTimeoutMS: command.graceMs });
      return "true";
    case "release":
      return "true";
  }
}
