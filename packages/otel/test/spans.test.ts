import { defineAgent, startSession, toolAsks } from "@moora/agent";
import { answers, callsTools, fails, hangs, MockLlmCaller } from "@moora/llm/testing";
import { TestClock, turn } from "@moora/testbed/test-clock";
import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { InMemorySpanExporter } from "@opentelemetry/sdk-trace";
import { describe, expect, it } from "vitest";
import { sessionTelemetry, type Capture, type SessionSpan } from "../src/index.ts";
import { outline, scene, spanOf, timesOf, toolOf } from "./support.ts";

const usage = { inputTokens: 30, cachedInputTokens: 20, outputTokens: 10, reasoningTokens: 4 };
const asksWeather = callsTools([{ name: "weather", arguments: { city: "Oslo" } }], { usage });

describe("the spans of a loop", () => {
  it("are one for the loop, and below it one for each model call and each tool call", async () => {
    const { session, spans } = await scene([asksWeather, answers("Snow.", { usage })], [toolOf("weather")]);
    await session.ask("Weather in Oslo?");
    expect(outline(await spans())).toEqual([
      "chat < invoke_agent agent",
      "execute_tool weather < invoke_agent agent",
      "chat < invoke_agent agent",
      "invoke_agent agent < -",
    ]);
  });

  it("have the attributes of the GenAI conventions", async () => {
    const config = { models: { default: "gpt-5.5" }, settings: { temperature: 0.5, maxOutputTokens: 300 } };
    const script = [asksWeather, answers("Snow.", { usage })];
    const { session, spans } = await scene(script, [toolOf("weather")], { config });
    await session.ask("Weather in Oslo?");
    const all = await spans();
    const common = {
      "gen_ai.conversation.id": "ada",
      "gen_ai.agent.name": "agent",
      "gen_ai.provider.name": "mock",
    };
    expect(all[0]?.attributes).toEqual({
      ...common,
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": "gpt-5.5",
      "gen_ai.request.max_tokens": 300,
      "gen_ai.request.temperature": 0.5,
      "gen_ai.response.finish_reasons": ["tool_call"],
      "gen_ai.usage.input_tokens": 30,
      "gen_ai.usage.output_tokens": 10,
      "gen_ai.usage.cache_read.input_tokens": 20,
      "gen_ai.usage.reasoning.output_tokens": 4,
      "moora.purpose": "plan",
      "moora.step": 1,
      "moora.attempt": 1,
    });
    expect(all[0]).toMatchObject({ name: "chat gpt-5.5", kind: SpanKind.CLIENT });
    expect(spanOf(all, "execute_tool weather")).toMatchObject({
      kind: SpanKind.INTERNAL,
      status: { code: SpanStatusCode.UNSET },
      attributes: {
        ...common,
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "weather",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.description": "Does weather.",
        "gen_ai.tool.call.id": "call_1",
        "moora.step": 1,
        "moora.attempt": 1,
      },
    });
    expect(spanOf(all, "invoke_agent agent").attributes).toEqual({
      ...common,
      "gen_ai.operation.name": "invoke_agent",
      "moora.usage.input_tokens": 60,
      "moora.usage.output_tokens": 20,
      "moora.usage.cache_read.input_tokens": 40,
      "moora.usage.cache_creation.input_tokens": 0,
      "moora.usage.reasoning.output_tokens": 8,
      "moora.usage.cost": 0,
      "moora.loop": 1,
    });
    for (const { instrumentationScope } of all)
      expect(instrumentationScope.schemaUrl).toBe("https://opentelemetry.io/schemas/1.41.0");
  });

  it("are one for each attempt of a call that is repeated, with the error of those that failed", async () => {
    const flaky = toolOf(
      "weather",
      (_, { attempt }) => {
        if (attempt === 1) throw new Error("Not now.");
        return "Snow.";
      },
      { replay: "safe", retries: 1 },
    );
    const config = { retries: { delayMs: 0 } };
    const { session, spans } = await scene([asksWeather, answers("Snow.")], [flaky], { config });
    await session.ask("Weather in Oslo?");
    const attempts = (await spans()).filter(({ name }) => name === "execute_tool weather");
    expect(attempts.map(({ attributes }) => attributes["moora.attempt"])).toEqual([1, 2]);
    expect(attempts.map(({ attributes }) => attributes["error.type"])).toEqual(["tool-error", undefined]);
  });

  it("have one for the question of a tool, between the attempts of its call", async () => {
    const ask = toolOf("weather", (_, { asked }) =>
      asked === undefined ? toolAsks({ question: "Which Oslo?" }) : "Snow.",
    );
    const { session, spans } = await scene([asksWeather, answers("Snow.")], [ask]);
    const run = session.ask("Weather in Oslo?");
    while (session.questions().length === 0) await turn();
    await Promise.all(session.questions().map((question) => session.decide(question, { answer: "Norway" })));
    await run;
    const all = await spans();
    expect(all.map(({ name }) => name)).toEqual([
      "chat",
      "execute_tool weather",
      "wait_for_human weather",
      "execute_tool weather",
      "chat",
      "invoke_agent agent",
    ]);
    expect(all.map(({ attributes }) => attributes["error.type"])).toEqual(Array(6).fill(undefined));
    expect(all[2]?.attributes).toMatchObject({ "moora.decision.type": "answered" });
    expect(all[2]?.attributes).not.toHaveProperty("moora.decision.by");
  });

  it("name with `capture` who has answered the question of a tool, and why there is no answer", async () => {
    const ask = toolOf("weather", (_, { asked }) =>
      asked === undefined ? toolAsks({ question: "Which Oslo?" }) : "None.",
    );
    const { session, spans } = await scene([asksWeather, answers("None.")], [ask], { capture: true });
    const run = session.ask("Weather in Oslo?");
    while (session.questions().length === 0) await turn();
    const refused = { reject: "There are two." };
    await Promise.all(session.questions().map((question) => session.decide(question, refused, "ada")));
    await run;
    expect(spanOf(await spans(), "wait_for_human weather").attributes).toMatchObject({
      "moora.decision.type": "refused",
      "moora.decision.by": "ada",
      "moora.decision.reason": "There are two.",
    });
  });

  it("contain nothing that was said", async () => {
    const secret = callsTools([{ name: "weather", arguments: { city: "secret" } }], { text: "secret" });
    const broken = toolOf("weather", () => {
      throw new Error("secret");
    });
    const { session, spans } = await scene([secret, answers("secret")], [broken], {
      config: { systemPrompt: "secret" },
    });
    await session.ask("secret");
    expect(JSON.stringify(await spans())).not.toContain("secret");
  });

  it("start and end at the times of the inputs", async () => {
    const scened = await scene(
      [asksWeather, answers("Snow.")],
      [toolOf("weather", () => scened.clock.set(5_000))],
    );
    await scened.session.ask("Weather in Oslo?");
    const all = await scened.spans();
    expect(timesOf(spanOf(all, "execute_tool weather"))).toEqual([1_000, 5_000]);
    expect(spanOf(all, "execute_tool weather").duration).toEqual([4, 0]);
    expect(timesOf(spanOf(all, "invoke_agent agent"))).toEqual([1_000, 5_000]);
  });

  it("end when they start if the clock was set back", async () => {
    const scened = await scene(
      [asksWeather, answers("Snow.")],
      [toolOf("weather", () => scened.clock.set(400))],
    );
    await scened.session.ask("Weather in Oslo?");
    const all = await scened.spans();
    expect(timesOf(spanOf(all, "execute_tool weather"))).toEqual([1_000, 1_000]);
    expect(timesOf(spanOf(all, "invoke_agent agent"))).toEqual([1_000, 1_000]);
    expect(all.every(({ duration: [seconds, nanos] }) => seconds === 0 && nanos === 0)).toBe(true);
  });
});

describe("the loops of a session", () => {
  it("are traces of their own, each linked to the one before", async () => {
    const { session, spans } = await scene([answers("One."), answers("Two.")]);
    await session.ask("1?");
    await session.ask("2?");
    const roots = (await spans()).filter(({ name }) => name === "invoke_agent agent");
    const [first, second] = roots.map((root) => root.spanContext());
    expect(first?.traceId).not.toBe(second?.traceId);
    expect(roots.map(({ links }) => links.map((link) => link.context))).toEqual([[], [first]]);
  });

  it("have the same ids each time, and other ids in another session", async () => {
    const idsOf = async (id: string): Promise<readonly string[]> => {
      const exporter = new InMemorySpanExporter();
      const telemetry = sessionTelemetry({ exporter });
      const session = startSession(defineAgent({ llm: new MockLlmCaller([answers("Yes.")]) }), { id });
      await telemetry.attach(session);
      await session.ask("Same?");
      await telemetry.flush();
      return exporter.getFinishedSpans().flatMap((span) => Object.values(span.spanContext()).map(String));
    };
    const ids = await idsOf("ada");
    expect(await idsOf("ada")).toEqual(ids);
    const [trace = "", root = ""] = ids;
    expect(trace).toMatch(/^[0-9a-f]{32}$/);
    expect(root).toMatch(/^[0-9a-f]{16}$/);
    expect(await idsOf("bob")).not.toEqual(expect.arrayContaining([trace]));
  });

  it("belong to a span of the application that is given as parent", async () => {
    const parent = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", traceFlags: 1 };
    const exporter = new InMemorySpanExporter();
    const telemetry = sessionTelemetry({ exporter });
    const session = startSession(defineAgent({ llm: new MockLlmCaller([answers("Yes.")]) }));
    await telemetry.attach(session, { parent, agentName: "clerk" });
    await session.ask("Here?");
    await telemetry.flush();
    const all = exporter.getFinishedSpans();
    expect(all.map((span) => span.spanContext().traceId)).toEqual([parent.traceId, parent.traceId]);
    expect(spanOf(all, "invoke_agent clerk").parentSpanContext).toEqual(parent);
  });

  it("are followed from the middle, with spans from then on", async () => {
    const exporter = new InMemorySpanExporter();
    const telemetry = sessionTelemetry({ exporter });
    const session = startSession(defineAgent({ llm: new MockLlmCaller([answers("One."), answers("Two.")]) }));
    await session.ask("1?");
    const detach = await telemetry.attach(session);
    await session.ask("2?");
    detach();
    await telemetry.flush();
    expect(outline(exporter.getFinishedSpans())).toEqual([
      "chat < invoke_agent agent",
      "invoke_agent agent < -",
    ]);
  });
});

describe("failures", () => {
  it("give each attempt of a model call a span with its error", async () => {
    const { session, clock, spans } = await scene([
      fails("overloaded"),
      fails("rate-limit"),
      answers("Yes."),
    ]);
    const run = session.ask("Up?");
    await clock.whenWaiting(1);
    await clock.advanceAsync(60_000);
    await run;
    const all = await spans();
    expect(outline(all)).toEqual([
      "chat < invoke_agent agent ! overloaded",
      "chat < invoke_agent agent ! rate-limit",
      "chat < invoke_agent agent",
      "invoke_agent agent < -",
    ]);
    expect(all.map(({ attributes }) => attributes["moora.attempt"])).toEqual([1, 2, 3, undefined]);
    expect(all[0]?.status).toEqual({ code: SpanStatusCode.ERROR, message: "Scripted failure: overloaded" });
  });

  it("of a loop are on its span", async () => {
    const { session, spans } = await scene([fails("auth")]);
    await expect(session.ask("Up?")).rejects.toThrow("auth");
    expect(outline(await spans())).toEqual([
      "chat < invoke_agent agent ! auth",
      "invoke_agent agent < - ! auth",
    ]);
  });

  it("of a tool have the code of the result", async () => {
    const tool = toolOf("weather", () => {
      throw new Error("No data.");
    });
    const { session, spans } = await scene([asksWeather, answers("Unknown.")], [tool]);
    await session.ask("Weather?");
    const span = spanOf(await spans(), "execute_tool weather");
    expect(span.attributes["error.type"]).toBe("tool-error");
    expect(span.status).toEqual({ code: SpanStatusCode.ERROR });
  });

  it("of a call that never ran have a span without a duration", async () => {
    const script = [callsTools([{ name: "wether" }, { name: "weather", arguments: "{" }]), answers("Oh.")];
    const { session, spans } = await scene(script, [toolOf("weather")]);
    await session.ask("Weather?");
    const refused = (await spans()).filter(({ name }) => name.startsWith("execute_tool"));
    expect(refused.map(({ name, attributes }) => [name, attributes["error.type"]])).toEqual([
      ["execute_tool wether", "unknown-tool"],
      ["execute_tool weather", "invalid-arguments"],
    ]);
    expect(refused.map(({ duration }) => duration)).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  it("by a cancel end the model call, the tool calls and the loop", async () => {
    const waits = toolOf("weather", () => new Promise(() => undefined));
    const { session, spans } = await scene([asksWeather, hangs("Well")], [waits]);
    const first = session.ask("Weather?");
    first.catch(() => undefined);
    await turn();
    await session.cancel();
    const second = session.ask("Again?");
    second.catch(() => undefined);
    await turn();
    await session.cancel();
    await session.settled();
    expect(outline(await spans())).toEqual([
      "chat < invoke_agent agent",
      "execute_tool weather < invoke_agent agent ! cancelled-after-start",
      "invoke_agent agent < - ! Cancelled",
      "chat < invoke_agent agent ! cancelled",
      "invoke_agent agent < - ! Cancelled",
    ]);
  });

  it("by a message that restarts the loop begin the next one", async () => {
    const { session, spans } = await scene([hangs(), answers("Hi.")], [], {
      config: { interjection: "restart" },
    });
    const first = session.ask("1?");
    first.catch(() => undefined);
    await turn();
    await session.ask("2?");
    expect(outline(await spans())).toEqual([
      "chat < invoke_agent agent ! cancelled",
      "invoke_agent agent < - ! Cancelled",
      "chat < invoke_agent agent",
      "invoke_agent agent < -",
    ]);
  });
});

describe("questions to a person", () => {
  const pays = callsTools([{ name: "pay", arguments: { euros: 9 } }]);

  it("have a span for the wait, and the decision", async () => {
    const { session, clock, spans } = await scene(
      [pays, answers("Paid.")],
      [toolOf("pay", undefined, { approval: "always" })],
    );
    const run = session.ask("Pay.");
    await turn();
    clock.set(61_000);
    const [question] = session.questions();
    if (question !== undefined) await session.decide(question, "approve", "grace");
    await run;
    const all = await spans();
    expect(outline(all)).toEqual([
      "chat < invoke_agent agent",
      "wait_for_human pay < invoke_agent agent",
      "execute_tool pay < invoke_agent agent",
      "chat < invoke_agent agent",
      "invoke_agent agent < -",
    ]);
    const wait = spanOf(all, "wait_for_human pay");
    expect(timesOf(wait)).toEqual([1_000, 61_000]);
    expect(wait.attributes).toMatchObject({
      "gen_ai.tool.name": "pay",
      "gen_ai.tool.call.id": "call_1",
      "moora.question.about": "approval",
      "moora.decision.type": "approved",
    });
    expect(JSON.stringify(all)).not.toContain("grace");
  });

  it("that were rejected have no span of a tool", async () => {
    const { session, spans } = await scene(
      [pays, answers("Not paid.")],
      [toolOf("pay", undefined, { approval: "always" })],
    );
    const run = session.ask("Pay.");
    await turn();
    const [question] = session.questions();
    if (question !== undefined) await session.decide(question, { reject: "Too much." });
    await run;
    const all = await spans();
    expect(all.filter(({ name }) => name.startsWith("execute_tool"))).toEqual([]);
    expect(spanOf(all, "wait_for_human pay").attributes["moora.decision.type"]).toBe("rejected");
  });

  it("that expired, and that a cancel ended, say so", async () => {
    const config = { approval: { policy: "always", expiresAfterMs: 5_000 } } as const;
    const { session, clock, spans } = await scene([pays, answers("No."), pays], [toolOf("pay")], { config });
    session.onEvent(() => undefined);
    const run = session.ask("Pay.");
    await turn();
    await clock.advanceAsync(5_000);
    await run;
    const cancelled = session.ask("Pay now.");
    cancelled.catch(() => undefined);
    await turn();
    await session.cancel();
    const waits = (await spans()).filter(({ name }) => name === "wait_for_human pay");
    expect(
      waits.map(({ attributes }) => [attributes["moora.decision.type"], attributes["error.type"]]),
    ).toEqual([
      ["expired", undefined],
      [undefined, "cancelled"],
    ]);
  });
});

describe("the handler of a custom state", () => {
  const noted = async (capture: Capture): Promise<SessionSpan> => {
    const exporter = new InMemorySpanExporter();
    const telemetry = sessionTelemetry({ exporter, capture });
    const graph = {
      states: ["Audit"],
      rows: { Planning: { LlmFinalAnswer: "Audit" }, Audit: { Passed: "Done" } },
      terminals: [],
    };
    const trace = { text: "Four rules passed.", data: { rules: 4 } };
    const agent = defineAgent({
      llm: new MockLlmCaller([answers("Done.")]),
      config: { graph },
      states: { Audit: () => ({ event: "Passed", trace }) },
    });
    const session = startSession(agent, { clock: new TestClock(1_000) });
    await telemetry.attach(session);
    await session.ask("Go.");
    await telemetry.flush();
    return spanOf(exporter.getFinishedSpans(), "handle_state Audit");
  };

  it("has an event for its trace note, whose content is captured only on demand", async () => {
    const { events, endTime } = await noted(false);
    expect(events).toEqual([{ name: "moora.trace.note", time: endTime, attributes: {} }]);
    expect((await noted(true)).events).toMatchObject([
      { attributes: { "moora.trace.text": "Four rules passed.", "moora.trace.data": '{"rules":4}' } },
    ]);
    const redacted = await noted((name, value) => (name === "moora.trace.data" ? undefined : value));
    expect(redacted.events[0]?.attributes).toEqual({ "moora.trace.text": "Four rules passed." });
  });

  it("has a span with its event", async () => {
    const exporter = new InMemorySpanExporter();
    const telemetry = sessionTelemetry({ exporter });
    const agent = defineAgent({
      llm: new MockLlmCaller([answers("Done.")]),
      config: {
        graph: {
          states: ["Audit"],
          rows: { Planning: { LlmFinalAnswer: "Audit" }, Audit: { Passed: "Done" } },
          terminals: [],
        },
      },
      states: { Audit: () => "Passed" },
    });
    const session = startSession(agent);
    await telemetry.attach(session);
    await session.ask("Go.");
    await telemetry.flush();
    const all = exporter.getFinishedSpans();
    expect(outline(all)).toContain("handle_state Audit < invoke_agent agent");
    expect(spanOf(all, "handle_state Audit").attributes["moora.state.event"]).toBe("Passed");
  });
});

describe("captured content", () => {
  const script = [asksWeather, answers("Snow.")];

  it("is what was sent, answered, passed and returned", async () => {
    const { session, spans } = await scene(script, [toolOf("weather", () => "snow")], {
      config: { systemPrompt: "Be brief." },
      capture: true,
    });
    await session.ask("Weather in Oslo?");
    const all = await spans();
    const tool = spanOf(all, "execute_tool weather");
    expect(tool.attributes).toMatchObject({
      "gen_ai.tool.call.arguments": '{"city":"Oslo"}',
      "gen_ai.tool.call.result": "snow",
    });
    const last = all.findLast(({ name }) => name === "chat");
    const messages = (name: string): unknown => JSON.parse(String(last?.attributes[name]));
    expect(messages("gen_ai.system_instructions")).toEqual([{ type: "text", content: "Be brief." }]);
    expect(messages("gen_ai.output.messages")).toEqual([
      { role: "assistant", parts: [{ type: "text", content: "Snow." }], finish_reason: "stop" },
    ]);
    const first = all.find(({ name }) => name === "chat");
    expect(JSON.parse(String(first?.attributes["gen_ai.output.messages"]))).toMatchObject([
      { parts: [{ type: "tool_call", arguments: { city: "Oslo" } }], finish_reason: "tool_call" },
    ]);
    expect(messages("gen_ai.input.messages")).toEqual([
      { role: "user", parts: [{ type: "text", content: "Weather in Oslo?" }] },
      {
        role: "assistant",
        parts: [{ type: "tool_call", id: "call_1", name: "weather", arguments: { city: "Oslo" } }],
      },
      { role: "tool", parts: [{ type: "tool_call_response", id: "call_1", response: "snow" }] },
    ]);
  });

  it("goes through a function that redacts or leaves out", async () => {
    const { session, spans } = await scene(script, [toolOf("weather", () => "snow")], {
      capture: (attribute, value) =>
        attribute.startsWith("gen_ai.tool") ? value.replace("Oslo", "*") : undefined,
    });
    await session.ask("Weather in Oslo?");
    const all = await spans();
    expect(spanOf(all, "execute_tool weather").attributes["gen_ai.tool.call.arguments"]).toBe('{"city":"*"}');
    expect(JSON.stringify(all)).not.toContain("Oslo");
  });
});
