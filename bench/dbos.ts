/** The cost of a step of a session on DBOS, beside a bare step of DBOS and the same session with `openSession`. */
import { DBOS } from "@dbos-inc/dbos-sdk";
import { defineAgent, defineTool, openSession, userMessage, type AgentState } from "@moora/agent";
import { dbosHost } from "@moora/dbos";
import { postgresLog } from "@moora/event-log-postgres";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { PostgresServer } from "@moora/testbed/postgres/server";
import { quantile } from "./harness/statistics.ts";

const samples = 9;
/** Model calls, with a tool call after each but the last. */
const steps = 10;

const agent = defineAgent({
  name: "steps",
  llm: new MockLlmCaller(({ messages }) =>
    messages.filter(({ role }) => role === "assistant").length % steps === steps - 1
      ? answers("Done.")
      : callsTools([{ name: "work" }]),
  ),
  tools: [
    defineTool({ name: "work", description: "Works.", input: { type: "object" }, execute: () => "ok" }),
  ],
});

await using server = await PostgresServer.start({ isDurable: true });
await using log = postgresLog(server.url, { prefix: "dbos_" });
await using other = postgresLog(server.url);
const host = dbosHost(agent, { log });
const bare = DBOS.registerWorkflow(
  async () => {
    for (let step = 0; step < steps * 2 - 1; step += 1)
      await DBOS.runStep(async () => "ok", { name: "step" });
  },
  { name: "bare" },
);
DBOS.setConfig({
  name: "bench",
  systemDatabaseUrl: server.url,
  applicationVersion: "1",
  executorID: "bench",
  logLevel: "error",
});
await DBOS.launch();

const isDone = ({ reActContext: { control } }: AgentState): boolean => control.type === "Done";

const ways: Readonly<Record<string, (sample: number) => Promise<unknown>>> = {
  "a bare step of DBOS": async () => await bare(),
  "a session on DBOS": async (sample) => {
    await host.post(`s${sample}`, userMessage("Work."));
    return await host.waitFor(`s${sample}`, isDone);
  },
  openSession: async (sample) => {
    await using session = await openSession(agent, { log: other, id: `s${sample}` });
    return await session.ask("Work.");
  },
};
const times: Record<string, number[]> = {};
for (let sample = 0; sample < samples; sample += 1) {
  for (const [name, way] of Object.entries(ways)) {
    const start = performance.now();
    await way(sample);
    (times[name] ??= []).push((performance.now() - start) / (steps * 2 - 1));
  }
}
for (const [name, values] of Object.entries(times))
  console.log(`${name.padEnd(22)} ${quantile(values, 0.5).toFixed(1)} ms for each model call or tool call`);
await DBOS.shutdown({ workflowCompletionTimeoutMS: 5_000 });
