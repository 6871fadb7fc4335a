/** A process that hosts the agent of the conformance suite on DBOS. Its orders are the JSON of its argument. */
import { conformanceAgent, remoteWorld, type CommitDeath } from "@moora/agent-testing/hosts";
import { dbosHost } from "@moora/dbos";
import { withSessions } from "@moora/event-log/testing";
import { postgresLog } from "@moora/event-log-postgres";
import pg from "pg";
import { serveCommands, type LaunchOrders } from "./commands.ts";

export interface ConformanceOrders extends LaunchOrders {
  readonly world: string;
  readonly release: number;
  readonly death?: CommitDeath;
}

const orders: ConformanceOrders = JSON.parse(process.argv[2] ?? "");
const { url, death } = orders;

const die = (): Promise<never> => {
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => undefined);
};

/** Ends this process at its death's record. */
const log = withSessions(postgresLog(url), (session) => ({
  async append(expectedSeq, records) {
    const isDue = death !== undefined && death.seq > expectedSeq && death.seq <= expectedSeq + records.length;
    if (isDue && death.when === "before") await die();
    await session.append(expectedSeq, records);
    if (isDue) await die();
  },
}));

const host = dbosHost(conformanceAgent(remoteWorld(orders.world), orders.release), {
  log,
  takeOver: new pg.Pool({ connectionString: url }),
  takeOverPollMs: 100,
  onProgress(id, progress) {
    if (progress.type === "LlmToken") console.log(`text ${id} ${JSON.stringify(progress.text)}`);
  },
});
await serveCommands(host, orders);
