/**
 * A server as a process of its own: `child.ts [POSTGRES_URL]`; without an address, its log is in memory. Sends its url, and a
 * reply to each order.
 */
import { setImmediate as turn } from "node:timers/promises";
import { openSession } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { postgresLog } from "@moora/event-log-postgres";
import { createAgentServer } from "@moora/server";
import { serve } from "@moora/server/node";
import { collectGarbage } from "../harness/ways.ts";
import { streamingAgent } from "./streaming-agent.ts";

/** What the parent asks for: each order has one reply. */
type Order = "memory" | "cpu" | { readonly loops: number };

/** The bytes in use after the garbage has been collected, and those of the process. */
export interface ServerMemory {
  readonly heap: number;
  readonly rss: number;
}

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

async function memory(): Promise<ServerMemory> {
  for (let round = 0; round < 3; round += 1) {
    collectGarbage("major");
    await turn();
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, rss };
}

/** The CPU time of all threads so far, in microseconds. */
function cpu(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Runs loops of a new session without a server. Its events have one listener. */
async function runLoops(loops: number): Promise<boolean> {
  await using session = await openSession(agent, { log: memoryLog(), id: "direct" });
  session.onEvent(() => undefined);
  for (let loop = 0; loop < loops; loop += 1) await session.ask("Hello");
  return true;
}

async function replyTo(order: Order): Promise<ServerMemory | number | boolean> {
  if (order === "cpu") return cpu();
  return order === "memory" ? await memory() : await runLoops(order.loops);
}

process.on("message", (order: Order) => void replyTo(order).then((reply) => process.send?.(reply)));
process.once("disconnect", () => process.exit());
const { url } = await serve(server, { port: 0 });
process.send?.(url);
