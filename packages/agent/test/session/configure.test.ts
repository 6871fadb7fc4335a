import { memoryLog } from "@moora/event-log";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { defineAgent, openSession, startSession } from "../../src/index.ts";
import { turns } from "../restarts/restarts.ts";
import { failureOf, scene, toolOf } from "../support.ts";
import { onAppend } from "@moora/testbed/durable/on-append";

const city = z.toJSONSchema(z.object({ city: z.string() }));
const cityText = JSON.stringify(city);
const noRetry = { retries: { maxAnswerRetries: 0 } };

describe("a change of config.answerSchema", () => {
  it.each(["not json", "[]", "7", '{ "city": "string" }'])(
    "is refused where defineAgent would refuse it: %s",
    async (answerSchema) => {
      const { session, llm } = scene([answers("ok")]);
      const error = await failureOf(session.configure({ answerSchema }));
      expect(error).toMatchObject({
        code: "BuildError",
        message: expect.stringContaining("config.answerSchema"),
      });
      expect(() => defineAgent({ llm, config: { answerSchema } })).toThrow("config.answerSchema");
      expect(session.current().config.answerSchema).toBeNull();
      await session.close();
    },
  );

  it("checks the answers from then on", async () => {
    const { session, llm } = scene(["Oslo", '{"city":"Oslo"}', "Oslo"].map((text) => answers(text)));
    await session.configure({ answerSchema: cityText });
    expect(await session.ask("Which city?")).toMatchObject({ answer: '{"city":"Oslo"}' });
    expect(llm.requests[0]?.answerSchema).toMatchObject({ required: ["city"] });
    await session.configure({ answerSchema: null });
    expect(await session.ask("Which city?")).toMatchObject({ answer: "Oslo" });
    await session.close();
  });

  it("checks the answer that the model writes meanwhile", async () => {
    const ready = Promise.withResolvers<void>();
    const { session } = scene(async ({ messages }) => {
      await ready.promise;
      return answers(messages.length === 1 ? "Oslo" : '{"city":"Oslo"}');
    });
    const run = session.ask("Which city?");
    await turns();
    await session.configure({ answerSchema: cityText });
    ready.resolve();
    expect(await run).toMatchObject({ answer: '{"city":"Oslo"}' });
    await session.close();
  });

  it("wraps a schema without an object at its root, as defineAgent does", async () => {
    const answerSchema = JSON.stringify({ type: "array", items: { type: "string" } });
    const { session, llm } = scene(
      ['{"value":["Oslo"]}', '["Oslo"]', '{"value":[1]}'].map((text) => answers(text)),
      {
        config: noRetry,
      },
    );
    await session.configure({ answerSchema });
    expect(await session.ask("q")).toMatchObject({ text: '{"value":["Oslo"]}' });
    expect(await session.ask("q")).toMatchObject({ text: '["Oslo"]' });
    expect(await failureOf(session.ask("q"))).toMatchObject({ reason: "AnswerInvalid" });
    const defined = defineAgent({ llm, config: { answerSchema } }).config;
    expect(session.current().config.answerSchema).toBe(defined.answerSchema);
    expect(JSON.stringify(llm.requests[0]?.answerSchema)).toBe(defined.answerSchema);
    await session.close();
  });

  it("ends what the schema of `answer` converts, until that schema is in force again", async () => {
    const answer = z.object({ city: z.string().transform((name) => name.toUpperCase()) });
    const llm = new MockLlmCaller(() => answers('{"city":"Oslo"}'));
    const agent = defineAgent({ llm, answer, config: noRetry });
    await using session = startSession(agent);
    expect((await session.ask("q")).answer).toEqual({ city: "OSLO" });
    await session.configure({ answerSchema: cityText.replace('"string"', '"string","minLength":2') });
    expect((await session.ask("q")).answer).toEqual({ city: "Oslo" });
    await session.configure({ answerSchema: agent.config.answerSchema });
    expect((await session.ask("q")).answer).toEqual({ city: "OSLO" });
  });
});

describe("two changes at once", () => {
  it("that exclude each other are not both accepted by a log that takes time", async () => {
    const log = onAppend(memoryLog(), async () => {
      await turns(2);
    });
    const agent = defineAgent({ llm: new MockLlmCaller(() => answers("Hi.")), tools: [toolOf("pay")] });
    await using session = await openSession(agent, { log, id: "ada" });
    const [first, second] = await Promise.allSettled([
      session.configure({ toolChoice: { name: "pay" } }),
      session.configure({ toolCalls: { blacklist: ["pay"] } }),
    ]);
    expect(first).toMatchObject({ status: "fulfilled", value: { status: "accepted" } });
    expect(second).toMatchObject({ status: "rejected", reason: { code: "BuildError" } });
    expect(session.current().config).toMatchObject({
      toolChoice: { name: "pay" },
      toolCalls: { blacklist: [] },
    });
    expect(await session.configure({ systemPrompt: "Be brief." })).toMatchObject({ status: "accepted" });
  });

  it("have the values that were given, whatever the caller does with the objects afterward", async () => {
    const { session } = scene([], { tools: [toolOf("pay")] });
    const blacklist = ["pay"];
    const changes = [
      session.configure({ systemPrompt: "Be brief." }),
      session.configure({ toolCalls: { blacklist } }),
    ];
    blacklist.pop();
    await Promise.all(changes);
    expect(session.current().config.toolCalls.blacklist).toEqual(["pay"]);
    await session.close();
  });
});
