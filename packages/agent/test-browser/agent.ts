import { defineAgent, defineTool, openSession, type Agent, type DurableSession } from "@moora/agent";
import { indexedDbLog } from "@moora/event-log/indexeddb";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import * as z from "zod";

const policies = { search: "safe", pay: "keyed", mail: "once" } as const;
const names = ["search", "pay", "mail"] as const;

/** An agent whose model calls three tools and then answers. Its tools run at the server of the test, which counts them. */
const agent: Agent = defineAgent({
  llm: new MockLlmCaller(({ messages }) =>
    messages.some(({ role }) => role === "assistant")
      ? answers("All done.")
      : callsTools(names.map((name) => ({ name, arguments: {} }))),
  ),
  tools: names.map((name) =>
    defineTool({
      name,
      description: `Does ${name}.`,
      replay: policies[name],
      ...(policies[name] === "once" ? { onUnknown: "ask" as const } : {}),
      input: z.object({}),
      execute: async () => (await fetch(`/tools/${name}`)).text(),
    }),
  ),
});

export const id = "order-7";
export const log = indexedDbLog("sessions");

/** Opens the session to read and post, as each tab does that shows it. */
export const openToPost = (): Promise<DurableSession> => openSession(agent, { log, id, access: "post" });

/**
 * Runs the session while this context holds the lock of its id. The browser gives the lock to the next context that waits for it
 * as soon as this one is gone. So one owner runs at a time, and all of them may have the same name.
 */
export async function runUnderLock(onOpen: (session: DurableSession) => void): Promise<void> {
  await navigator.locks.request(`sessions/${id}`, async () => {
    const session = await openSession(agent, { log, id, owner: "this browser" });
    onOpen(session);
    await new Promise<never>(() => undefined);
  });
}

/** Runs the session under its lease: another context takes it over when the lease of a closed one has ended. */
export const runUnderLease = (): Promise<DurableSession> =>
  openSession(agent, { log, id, leaseMs: 1_000, waitMs: 60_000 });
