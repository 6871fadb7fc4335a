import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HttpAgent } from "@ag-ui/client";
import { memoryLog } from "@moora/event-log";
import { Page } from "@moora/testbed/page";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createAgentServer } from "../src/index.ts";
import { serve, type ServedAgents } from "../src/node.ts";
import { say } from "@moora/testbed/server/ag-ui-scene";
import { HandModel } from "@moora/testbed/server/hand-model";
import { agentOf } from "@moora/testbed/server/agent-of";
import { Client } from "@moora/testbed/server/scene";

/** The function of the documentation. */
interface Documented {
  readonly openThread: (
    server: string,
    agent: string,
    threadId: string,
  ) => { readonly client: HttpAgent; readonly cancel: () => Promise<void> };
}

let folder: string;
let page: Documented;
let model: HandModel;
let served: ServedAgents;

beforeAll(async () => {
  folder = mkdtempSync(join(import.meta.dirname, ".fences-"));
  const file = join(folder, "ag-ui.ts");
  writeFileSync(file, new Page("docs/ag-ui.md").block("ts file=ag-ui.ts"));
  // The module exports what the page says.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  page = (await import(/* @vite-ignore */ file)) as Documented;
});

beforeEach(async () => {
  model = new HandModel();
  served = await serve(createAgentServer({ agents: [agentOf(model)], log: memoryLog() }), { port: 0 });
});

afterEach(async () => {
  await served.close();
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** A client of the thread, with how its runs have ended. */
function open() {
  const { client, cancel } = page.openThread(served.url, "helper", "thread-1");
  const ends: unknown[] = [];
  client.subscribe({
    onRunFinishedEvent: ({ event }) => void ends.push(event.outcome),
    onRunErrorEvent: ({ event }) => void ends.push(event),
  });
  return { client, cancel, ends };
}

const shows = (client: HttpAgent, text: string): Promise<void> =>
  vi.waitFor(() => expect(client.messages.at(-1)?.content).toBe(text), 60_000);

/** How the loop of the only session stands. */
async function controlType(): Promise<string> {
  const client = new Client((path, init) => fetch(`${served.url}${path}`, init));
  const [{ id }] = (await client.get("/sessions")).body.sessions;
  return (await client.get(`/sessions/${id}`)).body.state.reActContext.control.type;
}

describe("the client of AG-UI of the documentation", () => {
  it("cancels its run, which ends with the text that was written", async () => {
    const { client, cancel, ends } = open();
    const run = say(client, "Sing");
    (await model.attempt(1)).write("Once upon a ");
    await shows(client, "Once upon a ");
    await cancel();
    await run;
    expect(ends).toEqual([{ type: "cancelled" }]);
    await shows(client, "Once upon a ");
    expect(await controlType()).toBe("Error");
  });

  it("leaves the loop running when its connection is cut, and cancels it when it is back", async () => {
    const { client, cancel, ends } = open();
    const run = say(client, "Sing", "user_1");
    (await model.attempt(1)).write("Once upon a ");
    await shows(client, "Once upon a ");
    client.abortRun();
    await run;
    expect(await controlType()).toBe("Planning");
    client.setMessages(client.messages.slice(0, 1));
    const again = client.runAgent();
    await shows(client, "Once upon a ");
    await cancel();
    await again;
    // The client makes the first of them itself.
    expect(ends).toEqual([expect.objectContaining({ code: "abort" }), { type: "cancelled" }]);
  });

  it("cancels the loop that it has left", async () => {
    const { client, cancel } = open();
    const run = say(client, "Sing", "user_1");
    (await model.attempt(1)).write("Once upon a ");
    await shows(client, "Once upon a ");
    client.abortRun();
    await run;
    await cancel();
    expect(await controlType()).toBe("Error");
  });

  it("changes nothing when it cancels before its first run, and after the end of one", async () => {
    const { client, cancel, ends } = open();
    await cancel();
    const run = say(client, "Sing");
    const attempt = await model.attempt(1);
    attempt.write("The end.");
    attempt.end();
    await run;
    await cancel();
    expect(ends).toEqual([{ type: "success" }]);
    expect(await controlType()).toBe("Done");
  });
});
