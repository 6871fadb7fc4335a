// A cart that two parallel tools and the application change. The process is killed with SIGKILL before and after each of its
// appends to the log, and another process takes the session up. Each item is in the cart once.
// Run it: node_modules/.bin/node --conditions=@moora/source examples/shared-cart.ts
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent, defineData, defineTool, openSession, type DurableSession } from "@moora/agent";
import type { EventLog } from "@moora/event-log";
import { sqliteLog } from "@moora/event-log/sqlite";
import { withSessions } from "@moora/event-log/testing";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { z } from "zod";

const item = z.object({ sku: z.string(), quantity: z.number().positive() });
const cart = defineData({ schema: z.object({ items: z.array(item) }), initial: { items: [] } });
type Cart = { items: z.infer<typeof item>[] };

const addItem = defineTool({
  name: "add_item",
  description: "Adds an item to the cart.",
  input: z.object({ sku: z.string() }),
  replay: "keyed",
  data: cart,
  async execute({ sku }, { update }) {
    update((draft) => {
      draft.items.push({ sku, quantity: 1 });
    });
    return `${sku} is in the cart`;
  },
});

/** The model asks for two items at once. */
const agent = defineAgent({
  llm: new MockLlmCaller(({ messages }) =>
    messages.some(({ role }) => role === "assistant")
      ? answers("Tea and milk are in your cart.")
      : callsTools(["tea", "milk"].map((sku) => ({ name: "add_item", arguments: { sku } }))),
  ),
  data: cart,
  tools: [addItem],
});

/** The application: asks, and adds rice meanwhile, unless a process before this one has done so. */
async function order(session: DurableSession<string, Cart>): Promise<void> {
  const { messages } = session.current();
  const run = messages.length === 0 ? session.ask("Tea and milk, please.") : session.running();
  await session.update((draft) => {
    if (draft.items.every(({ sku }) => sku !== "rice")) draft.items.push({ sku: "rice", quantity: 2 });
  });
  await run;
  await session.settled();
}

/** A log whose process dies right before or right after one of its appends. */
function deadly(log: EventLog, append: number, when: string): EventLog {
  let appends = 0;
  return withSessions(log, (session) => ({
    append(expectedSeq, records) {
      appends += 1;
      if (appends === append && when === "before") process.kill(process.pid, "SIGKILL");
      const done = session.append(expectedSeq, records);
      if (appends === append && when === "after") process.kill(process.pid, "SIGKILL");
      return done;
    },
  }));
}

/** Starts a process that dies at an append. Returns the signal that ended it; null if it reached its end. */
async function killed(folder: string, append: number, when: string): Promise<unknown> {
  const args = [import.meta.filename, folder, String(append), when];
  const [, signal] = await once(spawn(process.execPath, [...process.execArgv, ...args]), "exit");
  return signal;
}

/** Kills a process, takes its session up, and returns the cart; undefined if the process made fewer appends. */
async function cartAfter(append: number, when: string): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "moora-cart-"));
  try {
    if ((await killed(folder, append, when)) !== "SIGKILL") return undefined;
    const log = sqliteLog(join(folder, "sessions.db"));
    const session = await openSession(agent, { log, id: "ada", isOwnerGone: () => true });
    await order(session);
    const { items } = session.current().data;
    await session.close();
    await log.close();
    return items
      .map(({ sku, quantity }) => `${sku} ${quantity}`)
      .toSorted()
      .join(", ");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const [folder, append, when] = process.argv.slice(2);
if (folder !== undefined && when !== undefined) {
  const log = deadly(sqliteLog(join(folder, "sessions.db")), Number(append), when);
  const session = await openSession(agent, { log, id: "ada" });
  await order(session);
  await session.close();
  await log.close();
} else {
  let kills = 0;
  for (let at = 1, isOver = false; !isOver; at += 1) {
    for (const phase of ["before", "after"]) {
      const items = await cartAfter(at, phase);
      isOver = items === undefined;
      if (items === undefined) continue;
      kills += 1;
      console.log(`killed ${phase} append ${at}: ${items}`);
      if (items !== "milk 1, rice 2, tea 1") process.exitCode = 1;
    }
  }
  console.log(
    process.exitCode === 1 ? "An item was lost or doubled." : `${kills} kills: no item was lost or doubled.`,
  );
}
