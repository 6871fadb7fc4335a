import { DBOS } from "@dbos-inc/dbos-sdk";
import { userMessage } from "@moora/agent";
import { dbosHost } from "@moora/dbos";
import { postgresLog } from "@moora/event-log-postgres";
import { calls, isDone, stepsAgent } from "./agent.ts";
import type { HostWays } from "./way.ts";

/** A session on DBOS, and a workflow of as many steps. */
export async function dbosWays(url: string): Promise<HostWays> {
  const log = postgresLog(url, { prefix: "dbos_" });
  const host = dbosHost(stepsAgent(), { log });
  const bare = DBOS.registerWorkflow(
    async () => {
      for (let call = 0; call < calls; call += 1) await DBOS.runStep(async () => "ok", { name: "step" });
    },
    { name: "bare" },
  );
  DBOS.setConfig({
    name: "bench",
    systemDatabaseUrl: url,
    applicationVersion: "1",
    executorID: "bench",
    logLevel: "error",
  });
  await DBOS.launch();
  return {
    ways: [
      { name: "a bare step of DBOS", run: async () => await bare() },
      {
        name: "DBOS",
        beside: "a bare step of DBOS",
        run: async (sample) => {
          await host.post(`s${sample}`, userMessage("Work."));
          await host.waitFor(`s${sample}`, isDone);
        },
      },
    ],
    async [Symbol.asyncDispose]() {
      await DBOS.shutdown({ workflowCompletionTimeoutMS: 5_000 });
      await log.close();
    },
  };
}
