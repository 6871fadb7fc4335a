/**
 * A process that hosts the session "ada": `host.ts MANNER PATH COUNTER OWNER TOOL`. By its manner it decides an open
 * question on command, or runs a tool that ends on command, or one that ends the process. What it reports is
 * a line of JSON each.
 */
import { writeSync } from "node:fs";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { sqliteLog } from "@moora/event-log/sqlite";
import { openSession, type DurableSession } from "@moora/agent";
import { Counter } from "../durable/counter.ts";
import { printErrorsBut } from "../durable/errors.ts";
import { heldAgent } from "../durable/held-agent.ts";

const [, , manner = "", path = "", counterFile = "", owner = "", tool = "once"] = process.argv;
const log = sqliteLog(path);
const counter = new Counter(counterFile);
const say = (name: string, value: unknown = null): void =>
  void writeSync(1, `${JSON.stringify([name, value])}\n`);
for (const event of ["unhandledRejection", "uncaughtException"] as const)
  process.on(event, (error) => say("uncaught", String(error)));

const words = createInterface({ input: process.stdin });
const received = async (word: string): Promise<void> => {
  for (;;) if ((await once(words, "line"))[0] === word) return;
};

const agent = heldAgent(counter, tool, async () => {
  say("working");
  if (manner === "abort") process.abort();
  await received("finish");
});

const codeOf = (error: unknown): unknown => Object(error).code;

/** Decides the one open question on command, and reports the receipt. */
async function decide(session: DurableSession): Promise<void> {
  const [question] = session.questions();
  if (question === undefined) return say("receipt", "nothing is asked");
  say("ready");
  await received("go");
  say("receipt", await session.decide(question, "approve", owner));
}

/** Runs until it is at rest or loses the session, or gets a signal to end. */
async function run(session: DurableSession): Promise<void> {
  process.once("SIGTERM", () => {
    void session.close().then(async () => {
      await log.close();
      words.close();
      process.stdin.destroy();
    });
  });
  const first = session.current().messages.length === 0;
  if (first) await session.send("Please.");
  await session.settled();
  say("settled", session.current().reActContext.control.type);
  if (manner === "abort") return;
  say("refused", await session.send("And now?").then(({ status }) => status, codeOf));
  if (session.info().access === "run") await session.settled();
}

const session = await openSession(agent, {
  log,
  id: "ada",
  owner,
  access: manner === "decide" ? "post" : "run",
  isOwnerGone: () => manner === "abort",
  onError: printErrorsBut("StaleWriter"),
});
await (manner === "decide" ? decide(session) : run(session)).catch((error: unknown) =>
  say("failed", codeOf(error)),
);
await session.close();
await log.close();
counter[Symbol.dispose]();
words.close();
process.stdin.destroy();
