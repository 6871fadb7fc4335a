import { createInterface } from "node:readline";
import { DBOS } from "@dbos-inc/dbos-sdk";
import type { AgentInput } from "@moora/agent";
import type { DbosHost } from "@moora/dbos";

/** What a test sends to a process, as a line of JSON. `number` is that of the answer. */
export type Command =
  | { readonly number: number; readonly type: "post"; readonly id: string; readonly input: AgentInput }
  /** Resumes the workflows of all other processes, as a take-over does, also of those that still run. */
  | { readonly number: number; readonly type: "resume" };

/** What every process of a test is started with. */
export interface LaunchOrders {
  readonly url: string;
  readonly executor: string;
}

/** Launches DBOS, prints `launched`, and answers commands until the process is killed. */
export async function serveCommands(host: DbosHost, { url, executor }: LaunchOrders): Promise<void> {
  DBOS.setConfig({
    name: "moora",
    systemDatabaseUrl: url,
    applicationVersion: "1",
    executorID: executor,
    logLevel: "error",
  });
  await DBOS.launch();
  console.log("launched");
  for await (const line of createInterface(process.stdin)) void answer(host, JSON.parse(line));
}

async function answer(host: DbosHost, command: Command): Promise<void> {
  switch (command.type) {
    case "post": {
      const hasApplied = await host.post(command.id, command.input);
      console.log(`answer ${command.number} ${hasApplied}`);
      return;
    }
    case "resume": {
      const pending = await DBOS.listWorkflows({ status: "PENDING" });
      const others = pending.filter(({ executorId }) => executorId !== DBOS.executorID);
      await DBOS.resumeWorkflows(others.map(({ workflowID }) => workflowID));
      console.log(`answer ${command.number} true`);
    }
  }
}
