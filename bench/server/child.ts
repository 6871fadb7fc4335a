/** A server as a process of its own: `child.ts [POSTGRES_URL]`; without an address, its log is in memory. Sends its url and its memory. */
import { setImmediate as turn } from "node:timers/promises";
import { openSession } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { postgresLog } from "@moora/event-log-postgres";
import { createAgentServer } from "@moora/server";
import { serve } from "@moora/server/node";
import { collectGarbage } from "../harness/ways.ts";
import { streamingAgent } from "./streaming-agent.ts";

/** What the parent asks for, and what this process sends back. */
export type Order = "memory" | { readonly loops: number };

export type Report =
  | { readonly type: "listening"; readonly url: string }
  | { readonly type: "memory"; readonly heap: number; readonly rss: number }
  /** The CPU time of one loop of a session without a server, in microseconds. */
  | { readonly type: "loop"; readonly cpu: number };

const [, , postgresUrl] = process.argv;
const log = postgresUrl === undefined ? memoryLog() : postgresLog(postgresUrl);
const agent = streamingAgent();
const server = createAgentServer({
  agents: [agent],
  log,
  leaseMs: 10_000,
  limits: {
    maxStreams: 20_000,
    maxStreamsPerUser: 20_000,
    maxOpenSessions: 20_000,
    maxRequestsPerMinute: 1_000_000,
    sessionIdleMs: 600_000,
  },
});
const report = (value: Report): void => void process.send?.(value);

/** Sends the memory in use after the garbage has been collected, and the memory of the process. */
async function reportMemory(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    collectGarbage("major");
    await turn();
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  report({ type: "memory", heap: heapUsed + external, rss });
}

/** Runs loops of one session without a server. */
async function reportLoops(loops: number): Promise<void> {
  const session = await openSession(agent, { log: memoryLog(), id: "direct" });
  const { user: from } = process.cpuUsage();
  for (let loop = 0; loop < loops; loop += 1) await session.ask("Hello");
  report({ type: "loop", cpu: (process.cpuUsage().user - from) / loops });
  await session.close();
}

process.on("message", (order: Order) => {
  void (order === "memory" ? reportMemory() : reportLoops(order.loops));
});
process.once("disconnect", () => process.exit());
const { url } = await serve(server, { port: 0 });
report({ type: "listening", url });
