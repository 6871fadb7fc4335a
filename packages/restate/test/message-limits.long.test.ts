import { defineAgent, defineTool, userMessage, type Agent } from "@moora/agent";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { restateSession, type RestateSession } from "../src/index.ts";
import { ask, expectSound, serveLocally } from "./local-service.ts";
import { RestateServer } from "./restate-server.ts";

/** Shorter than the sessions of these tests, and longer than any message that they may lead to. */
const messageBytes = 5_242_880;

let server: RestateServer;

beforeAll(async () => {
  server = await RestateServer.start({ messageBytes });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const agentOf = (name: string, version = "1"): Agent =>
  defineAgent({ name, version, llm: new MockLlmCaller(() => answers("Noted.")) });

const sessionOf = (agent: string, id: string): RestateSession =>
  restateSession({ ingressUrl: server.ingressUrl, agent, id });

/** A message whose record is longer than a page. */
const long = "Noted. ".repeat(320_000);

/** The keys that the object of a session stores, besides its records. */
async function storedKeys(agent: string, id: string): Promise<readonly string[]> {
  const rows = await server.query<{ readonly key: string }>(
    `SELECT key FROM state WHERE service_name = '${agent}-session' AND service_key = '${id}' AND key NOT LIKE 'log/%'`,
  );
  return rows.map(({ key }) => key).toSorted();
}

/** The reads of the object of a session that have not ended. */
async function openReads(agent: string): Promise<number> {
  const rows = await server.query<{ readonly id: string }>(
    `SELECT id FROM sys_invocation WHERE target_service_name = '${agent}-session'
     AND target_handler_name IN ('view', 'part', 'records') AND status <> 'completed'`,
  );
  return rows.length;
}

describe("a session that is longer than a message of Restate", () => {
  it("continues in a process that has not folded it, is read by a new handle, and copied to a log", async () => {
    await using first = await serveLocally(server, agentOf("long"));
    const session = sessionOf("long", "a");
    for (let index = 0; index < 4; index += 1) await ask(session, `${index}: ${long}`);
    const keys = await storedKeys("long", "a");
    const parts = keys.filter((key) => /^session\/\d+\/\d+$/.test(key));
    expect(parts.length).toBeGreaterThan(1);
    // Those of the snapshots before are removed.
    expect(new Set(parts.map((key) => key.split("/")[1])).size).toBe(1);

    await using _ = await serveLocally(server, agentOf("long", "2"));
    const { state } = await ask(session, "And now?");
    expect(state.messages.filter(({ role }) => role === "user")).toHaveLength(5);
    await first.register();
    await ask(session, "And then?");
    expect(await sessionOf("long", "a").current()).toEqual(await session.current());
    await expectSound(sessionOf("long", "a"), "a");
    expect(await openReads("long")).toBe(0);
  });

  it("is read by a handle that has the beginning of it", async () => {
    await using _ = await serveLocally(server, agentOf("behind"));
    const [reader, writer] = [sessionOf("behind", "a"), sessionOf("behind", "a")];
    await ask(writer, "Hello.");
    await reader.current();
    for (let index = 0; index < 3; index += 1) await writer.post(userMessage(`${index}: ${long}`));
    const { seq } = await ask(writer, "And now?");
    expect(await reader.current()).toMatchObject({ seq });
  });
});

describe("an input whose record is longer than a message of Restate may be", () => {
  it("is refused, and the session continues", async () => {
    await using _ = await serveLocally(server, agentOf("refused"));
    const session = sessionOf("refused", "a");
    await ask(session, "Hello.");
    // 16 bytes of JSON in a record for 8 in a call.
    await expect(session.send('"'.repeat(8_000_000))).rejects.toMatchObject({ status: 413 });
    await expect(session.send("\u{1F600}".repeat(7_000_000))).rejects.toMatchObject({ status: 413 });
    await ask(session, "Again.");
    await expectSound(session, "a");
  });
});

describe("a result whose record is longer than a message of Restate may be", () => {
  it("is a failure of its call", async () => {
    const agent = defineAgent({
      name: "reader",
      llm: new MockLlmCaller([callsTools([{ name: "read" }]), answers("It is too long.")]),
      tools: [
        defineTool({
          name: "read",
          description: "Reads a file.",
          input: z.object({}),
          replay: "once",
          execute: () => '"'.repeat(7_000_000),
        }),
      ],
      runLimits: { maxResultLength: 8_000_000 },
    });
    await using _ = await serveLocally(server, agent);
    const { state } = await ask(sessionOf("reader", "a"), "Read it.");
    const [call] = Object.values(state.toolCalls);
    expect(call?.result).toMatchObject({
      isSuccess: false,
      error: expect.stringContaining("is longer than"),
    });
  });
});
