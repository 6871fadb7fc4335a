/**
 * A server as a process of its own: `child.ts [POSTGRES_URL]`; without an address, its log is in memory. Sends its url, its memory and
 * its CPU time.
 */
import { setImmediate as turn } from "node:timers/promises";
import { openSession } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { postgresLog } from "@moora/event-log-postgres";
import { createAgentServer } from "@moora/server";
import { serve } from "@moora/server/node";
import { collectGarbage } from "../harness/ways.ts";
import { streamingAgent } from "./streaming-agent.ts";

/** What the parent asks for, and what this process sends back. */
export type Order = "memory" | "cpu" | { readonly loops: number };

export type Report =
  | { readonly type: "listening"; readonly url: string }
  | { readonly type: "memory"; readonly heap: number; readonly rss: number }
  /** The CPU time that the process has taken so far, in microseconds. */
  | { readonly type: "cpu"; readonly microseconds: number }
  /** The loops of a session without a server have ended. */
  | { readonly type: "looped" };

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

/** Sends the CPU time of all threads. */
function reportCpu(): void {
  const { user, system } = process.cpuUsage();
  report({ type: "cpu", microseconds: user + system });
}

/** Runs loops of a new session without a server. Its events have one listener. */
async function reportLoops(loops: number): Promise<void> {
  await using session = await openSession(agent, { log: memoryLog(), id: "direct" });
  session.onEvent(() => undefined);
  for (let loop = 0; loop < loops; loop += 1) await session.ask("Hello");
  report({ type: "looped" });
}

process.on("message", (order: Order) => {
  if (order === "cpu") reportCpu();
  else void (order === "memory" ? reportMemory() : reportLoops(order.loops));
});
process.once("disconnect", () => process.exit());
const { url } = await serve(server, { port: 0 });
report({ type: "listening", url });
