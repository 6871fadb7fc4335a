/** On DBOS, with its tables beside the log of the sessions. Usage: DATABASE_URL=... node dbos.ts */
import { DBOS } from "@dbos-inc/dbos-sdk";
import { answerTextAt, userMessage } from "@moora/agent";
import { dbosHost } from "@moora/dbos";
import { postgresLog } from "@moora/event-log-postgres";
import { agent } from "./agent.ts";

const url = process.env["DATABASE_URL"] ?? "postgres://127.0.0.1/moora";
await using log = postgresLog(url, { prefix: "dbos_" });
const host = dbosHost(agent, { log });
DBOS.setConfig({ name: "moora", systemDatabaseUrl: url, applicationVersion: "1", executorID: "one" });
await DBOS.launch();
await host.post("oslo", userMessage("What is the weather in Oslo?"), { key: "first" });
const state = await host.waitFor("oslo", ({ reActContext }) => reActContext.control.type === "Done");
console.log(answerTextAt(state));
await DBOS.shutdown({ workflowCompletionTimeoutMS: 5_000 });
