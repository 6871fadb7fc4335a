/**
 * One process of a cluster: a server on a free port, with a worker. Its orders are the JSON of its argument. It prints `ready`, and
 * begins at the first line of its input. SIGTERM closes it gracefully.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { defineAgent, defineData, defineTool, type LlmCaller } from "@moora/agent";
import { postgresLog } from "@moora/event-log-postgres";
import { answers, callsTools, hangs, MockLlmCaller } from "@moora/llm/testing";
import { createAgentServer } from "@moora/server";
import { serve } from "@moora/server/node";

export interface Orders {
  readonly url: string;
  /** The file with a line for each effect, by its idempotency key. */
  readonly effects: string;
  readonly leaseMs: number;
  readonly pollMs: number;
  readonly maxSessions: number;
  /** How long each call of the model takes. */
  readonly modelMs: number;
  /** Whether the tool `work` waits for ever. */
  readonly hangs: boolean;
  /** Whether this process is on a machine of its own, so that others do not see its end. */
  readonly isElsewhere: boolean;
}

const orders: Orders = JSON.parse(process.argv[2] ?? "");

/** Without the modules of Node, a process has no fingerprint and knows nothing of other processes. */
if (orders.isElsewhere) Reflect.set(process, "getBuiltinModule", undefined);

const write = (line: string): void => appendFileSync(orders.effects, `${line}\n`);

/** Has an effect that must happen once. What it did can be looked up, as at a payment provider. */
const pay = defineTool({
  name: "pay",
  description: "Pays.",
  input: { type: "object" },
  replay: "once",
  execute(_, { idempotencyKey }) {
    write(`paid ${idempotencyKey}`);
    return "paid";
  },
  probe: (_, { idempotencyKey }) =>
    readFileSync(orders.effects, "utf8").includes(`paid ${idempotencyKey}\n`)
      ? { output: "paid" }
      : "not-run",
});

const work = defineTool({
  name: "work",
  description: "Works, and may be repeated.",
  input: { type: "object" },
  replay: "keyed",
  async execute(_, { idempotencyKey }) {
    write(`began ${idempotencyKey}`);
    if (orders.hangs) await new Promise(() => undefined);
    return "worked";
  },
});

const crash = defineTool({
  name: "crash",
  description: "Ends the process.",
  input: { type: "object" },
  replay: "keyed",
  async execute() {
    // The calls beside it have begun.
    await delay(200);
    return process.exit(1);
  },
});

const hang = defineTool({
  name: "hang",
  description: "Never returns.",
  input: { type: "object" },
  replay: "keyed",
  execute: () => new Promise<string>(() => undefined),
});

const slow = defineTool({
  name: "slow",
  description: "Takes a while.",
  input: { type: "object" },
  replay: "safe",
  execute: async () => await delay(1_000, "found"),
});

const transfer = defineTool({
  name: "transfer",
  description: "Pays what a person has approved.",
  input: { type: "object" },
  approval: "always",
  execute: () => "transferred",
});

const data = defineData({ schema: { type: "object" }, initial: { list: [] } });

/** Calls the tool that the last message of the user names, and then answers. Never answers a message with the word wait. */
const script = new MockLlmCaller(({ messages }) => {
  const last = messages.at(-1);
  const name =
    last?.role === "user"
      ? /\b(pay|work|crash|hang|slow|transfer|wait)\b/.exec(JSON.stringify(last.content))?.[1]
      : undefined;
  if (name === "wait") return hangs();
  return name === undefined ? answers("Done.") : callsTools([{ name }]);
});
const llm: LlmCaller = {
  name: "scripted",
  async call(request, options) {
    await delay(orders.modelMs, undefined, { signal: options?.signal });
    return await script.call(request, options);
  },
};

console.log("ready");
await once(createInterface(process.stdin), "line");

const log = postgresLog(orders.url);
const served = await serve(
  createAgentServer({
    agents: [defineAgent({ name: "payer", llm, tools: [pay, work, crash, hang, slow, transfer], data })],
    log,
    leaseMs: orders.leaseMs,
    worker: { pollMs: orders.pollMs, maxSessions: orders.maxSessions },
    limits: { maxRequestsPerMinute: 1_000_000, maxStreamsPerUser: 10_000 },
    onError: (error) => console.log(`error ${String(error)}`),
  }),
  { port: 0 },
);
console.log(`listening ${served.url}`);
process.once("SIGTERM", () => {
  void served
    .close({ graceMs: 5_000 })
    .then(() => log.close())
    .then(() => process.exit(0));
});
