import {
  answerTextAt,
  defineAgent,
  defineData,
  defineTool,
  foldHeader,
  newSessionHeader,
  userMessage,
  type Agent,
  type AgentState,
  type DataDefinition,
} from "@moora/agent";
import { rulesVersion } from "@moora/agent-core-state-machine";
import { digestOf, recordAfter } from "@moora/event-log";
import type { JsonObject } from "@moora/llm";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { Scene } from "@moora/testbed/server/scene";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { restateLog, RestateFailure, restateSession, type RestateSession } from "../src/index.ts";
import { sessionCall } from "../src/ingress.ts";
import { serveLocally } from "./local-service.ts";
import { newId } from "./log-scene.ts";
import { RestateServer } from "./restate-server.ts";

let server: RestateServer;

beforeAll(async () => {
  server = await RestateServer.start();
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const schemaOf = (type: string): JsonObject => ({
  type: "object",
  properties: { n: { type } },
  required: ["n"],
});

const numbers = defineData({ schema: schemaOf("number"), initial: { n: 0 } });

const texts = defineData({
  schema: schemaOf("string"),
  initial: { n: "0" },
  version: 2,
  migrate: (stored) => ({ n: String(Reflect.get(Object(stored), "n")) }),
});

/** Its version is that of `texts`, whose data do not fit it. */
const flags = defineData({
  schema: schemaOf("boolean"),
  initial: { n: false },
  version: 2,
  migrate: () => ({ n: false }),
});

/** Resolves when the tool has begun, and what its end waits for. */
class Hold {
  readonly begun = Promise.withResolvers<void>();
  readonly released = Promise.withResolvers<void>();
}

interface Release {
  readonly version: string;
  readonly data: DataDefinition<JsonObject>;
  readonly hold?: Hold;
}

/** An agent that answers with the name of its release; "wait" calls a tool first. */
const agentOf = ({ version, data, hold }: Release): Agent<unknown> =>
  defineAgent({
    name: "clerk",
    version,
    data,
    tools: [
      defineTool({
        name: "wait",
        description: "Waits.",
        input: { type: "object" },
        async execute() {
          hold?.begun.resolve();
          await hold?.released.promise;
          return "waited";
        },
      }),
    ],
    llm: new MockLlmCaller(({ messages }) => {
      const last = messages.findLast(({ role }) => role === "user" || role === "assistant");
      const isCall = last?.role === "user" && JSON.stringify(last.content).includes("wait");
      return isCall ? callsTools([{ name: "wait", arguments: {} }]) : answers(`By ${version}.`);
    }),
  });

/** Makes an agent the newest deployment until the test has ended. */
async function deployAgent(agent: Agent<unknown>): Promise<void> {
  const service = await serveLocally(server, agent);
  onTestFinished(() => service[Symbol.asyncDispose]());
}

const deploy = (release: Release): Promise<void> => deployAgent(agentOf(release));

const open = (id: string): RestateSession =>
  restateSession({ ingressUrl: server.ingressUrl, agent: "clerk", id });

const isDone = ({ reActContext: { control } }: AgentState): boolean => control.type === "Done";

describe("a release that cannot use the data of a session", () => {
  it.each([
    ["of a newer version", numbers, "it has version 2, and this agent has version 1."],
    ["that do not fit its schema", flags, "increase version and give migrate"],
  ])(
    "refuses posts to a session with data %s, and the next release continues it",
    async (_, data, reason) => {
      const session = open(newId());
      await deploy({ version: "1", data: numbers });
      await session.ask("first");
      await deploy({ version: "2", data: texts });
      expect((await session.ask("second")).text).toBe("By 2.");
      const before = await session.current();
      expect(before?.state).toMatchObject({ data: { n: "0" }, dataStatus: { version: 2 } });

      await deploy({ version: "back", data });
      const refusal = { status: 409, message: expect.stringContaining(reason) };
      await expect(session.send("third")).rejects.toBeInstanceOf(RestateFailure);
      await expect(session.send("third")).rejects.toMatchObject(refusal);
      await expect(session.cancel()).rejects.toMatchObject(refusal);
      await expect(session.ask("third")).rejects.toMatchObject({ kind: "MemoryError", cause: refusal });
      const question = { toolCallId: "call_1", digest: "none" };
      await expect(session.decide(question, "approve")).rejects.toMatchObject(refusal);
      expect(await session.current()).toEqual(before);

      await deploy({ version: "next", data: texts });
      expect((await session.ask("fourth")).text).toBe("By next.");
    },
  );

  it("refuses posts to a session with a record of a later release of this library", async () => {
    const id = newId();
    const agent = agentOf({ version: "1", data: numbers });
    await deployAgent(agent);
    const header = newSessionHeader(agent, "one");
    const snapshot = foldHeader(header);
    const record = recordAfter(
      snapshot.head,
      JSON.stringify({ ...userMessage("first"), v: 1_000 }),
      digestOf("{}"),
    );
    const { seq, digest } = record;
    const about = { seq: 0, bytes: 0, parts: 0, stateVersion: snapshot.state.version, rules: rulesVersion };
    await server.setState("clerk-session", id, {
      header,
      "log/1": record,
      head: { seq, digest, release: "2", snapshot: about, tailBytes: 1 },
    });
    await using log = restateLog({ ingressUrl: server.ingressUrl, agent: "clerk" });
    while ((await log.open(id)) === undefined);
    await expect(open(id).send("second")).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining("version 1000"),
    });
  });

  describe("of a session without a head, which an earlier release of this library has stored", () => {
    const refusal = { status: 409, message: expect.stringContaining("an earlier release stored it") };

    async function storeOld(): Promise<{ readonly id: string; readonly header: string }> {
      const id = newId();
      const agent = agentOf({ version: "1", data: numbers });
      await deployAgent(agent);
      const header = newSessionHeader(agent, "one");
      await server.setState("clerk-session", id, { header, session: foldHeader(header), version: "1" });
      const stored = `SELECT key FROM state WHERE service_key = '${id}' AND key = 'session'`;
      while ((await server.query(stored)).length === 0);
      return { id, header };
    }

    it("refuses posts, reads and openings, and removes it", async () => {
      const { id } = await storeOld();
      await expect(open(id).send("second")).rejects.toMatchObject(refusal);
      await expect(open(id).current()).rejects.toMatchObject(refusal);
      await using log = restateLog({ ingressUrl: server.ingressUrl, agent: "clerk" });
      await expect(log.open(id)).rejects.toMatchObject({ code: "LogWrite", cause: refusal });
      expect(await log.remove(id)).toBe(true);
      expect(await log.open(id)).toBeUndefined();
    });

    it("refuses what an effect reports once, and is not blocked by it", async () => {
      const { id, header } = await storeOld();
      const report = { inputs: [], from: "call", header: digestOf(header) };
      await expect(sessionCall(server.ingressUrl, "clerk")(id, "report", report)).rejects.toMatchObject(
        refusal,
      );
      await expect(open(id).send("second")).rejects.toMatchObject(refusal);
    });
  });

  it("refuses posts of a server as unavailable, with the reason for its operator", async () => {
    await deploy({ version: "1", data: texts });
    await using log = restateLog({ ingressUrl: server.ingressUrl, agent: "clerk" });
    await using scene = new Scene(agentOf({ version: "1", data: texts }), { log });
    const ada = scene.as("ada");
    const id = await ada.create("clerk");
    const post = (content: string, key: string) =>
      ada.post(`/sessions/${id}/messages`, { content }, { "idempotency-key": key });
    await post("first", "one");
    await open(id).waitFor(isDone);

    await deploy({ version: "back", data: numbers });
    expect(await post("second", "two")).toMatchObject({ status: 503, body: { code: "unavailable" } });
    expect(scene.errors[0]).toMatchObject({ code: "LogWrite", cause: { status: 409 } });
    await deploy({ version: "next", data: texts });
    expect(await post("second", "two")).toMatchObject({ status: 200, body: { status: "accepted" } });
    const { messages } = await open(id).waitFor(isDone);
    expect(messages.filter(({ role }) => role === "user")).toHaveLength(2);
  });

  it("keeps what a tool reports meanwhile, and the newest deployment continues with it", async () => {
    const session = open(newId());
    const hold = new Hold();
    await deploy({ version: "1", data: texts, hold });
    await session.send("wait");
    await hold.begun.promise;
    await deploy({ version: "back", data: numbers });
    hold.released.resolve();
    const repeated = `SELECT id FROM sys_invocation WHERE target_handler_name = 'report' AND status = 'backing-off'`;
    while ((await server.query(repeated)).length === 0);

    await deploy({ version: "next", data: texts });
    await server.resumeOnNewest("clerk-session");
    const state = await session.waitFor(isDone);
    expect(Object.values(state.toolCalls)).toMatchObject([
      { result: { isSuccess: true, content: "waited" } },
    ]);
    expect(answerTextAt(state)).toBe("By next.");
  });
});
