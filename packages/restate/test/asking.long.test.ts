import { AgentError, BuildError, defineAgent, defineTool, LogError, type Agent } from "@moora/agent";
import { answers, callsTools, fails, MockLlmCaller } from "@moora/llm/testing";
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from "vitest";
import * as z from "zod";
import { RestateFailure, restateLog, restateSession, type RestateSession } from "../src/index.ts";
import { serveLocally, type LocalService } from "./local-service.ts";
import { RestateServer } from "./restate-server.ts";

/** The calls of `work` that run, each with the function that ends it. */
const working: (() => void)[] = [];

const tools = [
  defineTool({
    name: "pay",
    description: "Pays.",
    input: z.object({ cents: z.number() }),
    approval: "always",
    execute: () => "paid",
  }),
  defineTool({
    name: "work",
    description: "Works.",
    input: z.object({}),
    async execute() {
      await new Promise<void>((resolve) => void working.push(resolve));
      return "worked";
    },
  }),
];

/** An agent that does what the last message says, and then answers with it. */
const clerk: Agent = defineAgent({
  name: "clerk",
  tools,
  llm: new MockLlmCaller(({ messages }) => {
    const last = messages.at(-1);
    const text = JSON.stringify(last);
    if (last?.role !== "user") return answers("Done.");
    if (text.includes("pay")) return callsTools([{ name: "pay", arguments: { cents: 5 } }]);
    if (text.includes("work")) return callsTools([{ name: "work", arguments: {} }]);
    if (text.includes("fail")) return fails("auth");
    return answers(`Heard: ${/One|Two|Three/.exec(text)?.[0] ?? "nothing"}.`);
  }),
});

const counter = defineAgent({
  name: "counter",
  answer: z.object({ count: z.number() }),
  llm: new MockLlmCaller(() => answers('{"count":3}')),
});

let server: RestateServer;
let services: readonly LocalService[];

beforeAll(async () => {
  server = await RestateServer.start();
  services = [await serveLocally(server, clerk), await serveLocally(server, counter)];
});

afterAll(async () => {
  for (const service of services) await service[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const sessionOf = (id: string): RestateSession =>
  restateSession({ ingressUrl: server.ingressUrl, agent: "clerk", id });

const remove = async (id: string): Promise<void> => {
  await using log = restateLog({ ingressUrl: server.ingressUrl, agent: "clerk" });
  expect(await log.remove(id)).toBe(true);
};

/** Resolves when this many calls of `work` run. */
const untilWorking = (calls = 1) => expect.poll(() => working.length, { timeout: 30_000 }).toBe(calls);

const endWork = (): void => {
  for (const end of working.splice(0)) end();
};

describe("ask of a session on Restate", () => {
  it("resolves with the answer, in a new session and in one that continues", async () => {
    const session = sessionOf("answers");
    const first = await session.ask("One");
    expect(first).toMatchObject({ answer: "Heard: One.", text: "Heard: One.", steps: 1 });
    const second = await session.ask({ content: "Two" });
    expect(second.answer).toBe("Heard: Two.");
    expect(second.state).toEqual((await session.current())?.state);
    expect((await sessionOf("answers").ask("Three")).state.messages).toHaveLength(6);
  });

  it("answers each of several messages that are asked at once", async () => {
    const session = sessionOf("several");
    const asked = ["One", "Two", "Three"].map(async (text) => (await session.ask(text)).answer);
    for (const answer of await Promise.all(asked)) expect(answer).toMatch(/^Heard: (One|Two|Three)\.$/);
  });

  it("gives the value of an agent with a schema", async () => {
    const { ingressUrl } = server;
    const session = restateSession<{ count: number }>({ ingressUrl, agent: "counter", id: "typed" });
    const { answer } = await session.ask("How many?");
    expectTypeOf(answer).toEqualTypeOf<{ count: number }>();
    expect(answer).toEqual({ count: 3 });
  });

  it("emits the calls, the questions, and the answer, and a reader of the events decides", async () => {
    const types: string[] = [];
    for await (const event of sessionOf("events").ask("Please pay.")) {
      types.push(event.type);
      if (event.type === "ApprovalRequested") await event.decide("approve", "ada");
    }
    expect(types.filter((type) => type !== "StateStarted")).toEqual([
      "ApprovalRequested",
      "ToolCallStarted",
      "ToolCallFinished",
      "FinalAnswer",
    ]);
    const { state } = (await sessionOf("events").current()) ?? {};
    expect(Object.values(state?.toolCalls ?? {})).toMatchObject([{ result: { content: "paid" } }]);
  });

  it("rejects with the failure of its loop", async () => {
    const error: unknown = await sessionOf("failed")
      .ask("Please fail.")
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AgentError);
    expect(error).toMatchObject({ kind: "LlmError" });
  });

  it("cancels its loop, and rejects then", async () => {
    const run = sessionOf("canceled").ask("Please work.");
    await untilWorking();
    run.cancel("No longer needed.");
    await expect(run).rejects.toMatchObject({ kind: "Cancelled" });
    endWork();
  });

  it.each([
    ["a blank message", " ", "blank", "The message must not be blank. Pass text or attachments."],
    [
      "a content that is not a message",
      7 as unknown as string,
      "InputRefused",
      "The message must be a string or an object { content, attachments }, got 7.",
    ],
  ])("rejects for %s as a session in memory does", async (_, content, reason, message) => {
    const session = sessionOf(`refused-${reason}`);
    const error = { name: "AgentError", kind: "AgentFailed", reason, message };
    await expect(session.ask(content)).rejects.toMatchObject(error);
    await session.ask("One");
    await expect(session.ask(content)).rejects.toMatchObject(error);
  });

  it("rejects when its session is removed", async () => {
    const run = sessionOf("removed").ask("Please work.");
    run.catch(() => undefined);
    await untilWorking();
    await remove("removed");
    await expect(run).rejects.toMatchObject({ kind: "Conflict", reason: "LogRemoved" });
    endWork();
  });

  it("waits while the server of Restate does not run, and resolves when it runs again", async () => {
    const session = sessionOf("outage");
    const run = session.ask("Please work.");
    await untilWorking();
    await server.kill();
    await expect(session.current()).rejects.toThrow(RestateFailure);
    endWork();
    await server.start();
    expect((await run).answer).toBe("Done.");
  });
});

describe("waitFor of a session on Restate", () => {
  it("resolves at once with the newest state, if that is reached", async () => {
    const session = sessionOf("reached");
    const { state } = await session.ask("One");
    expect(await session.waitFor(() => true)).toEqual(state);
  });

  it("waits for the first input of a session, and sees the state after each record", async () => {
    const seen: string[] = [];
    const done = sessionOf("first").waitFor(({ reActContext: { control } }) => {
      seen.push(control.type);
      return control.type === "Done";
    });
    await sessionOf("first").send("One");
    expect((await done).messages.map(({ content }) => content)).toEqual(["One", "Heard: One."]);
    expect(seen).toContain("Planning");
    expect(seen.filter((type) => type === "Done")).toHaveLength(1);
  });

  it("does not take the end of an earlier loop for that of a message that was sent before", async () => {
    const session = sessionOf("later");
    await session.ask("One");
    await session.send("Two");
    const { messages } = await session.waitFor(({ reActContext }) => reActContext.control.type === "Done");
    expect(messages.at(-1)?.content).toBe("Heard: Two.");
  });

  it("rejects for a value that is not a function, and with what the function throws", async () => {
    const session = sessionOf("throws");
    const untyped = session.waitFor as (isReached: unknown) => Promise<unknown>;
    await expect(untyped("Done")).rejects.toThrow(BuildError);
    await expect(untyped("Done")).rejects.toThrow('isReached must be a function of the state, got "Done".');
    await session.send("One");
    const thrown = session.waitFor(() => {
      throw new RangeError("Out of range.");
    });
    await expect(thrown).rejects.toThrow(RangeError);
  });

  it("rejects when the session is removed, also when another one has its id", async () => {
    const session = sessionOf("replaced");
    await session.ask("One");
    let reads = 0;
    const waiting = session.waitFor(() => {
      reads += 1;
      return false;
    });
    waiting.catch(() => undefined);
    await expect.poll(() => reads, { timeout: 30_000 }).toBeGreaterThan(0);
    await remove("replaced");
    await session.send("Two");
    await expect(waiting).rejects.toThrow(LogError);
    await expect(waiting).rejects.toMatchObject({ code: "LogRemoved" });
  });
});
