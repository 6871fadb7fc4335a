import type { LlmCaller } from "@moora/llm";
import { MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, expectTypeOf, it } from "vitest";
import * as z from "zod";
import {
  askHuman,
  defineAgent,
  defineTool,
  startSession,
  type Agent,
  type AgentOptions,
  type ToolOptions,
} from "../src/index.ts";

const llm = new MockLlmCaller([]);
const input = z.object({ city: z.string() });

/** Callers without types may pass any value. */
const untyped = (value: object) => Object.assign(JSON.parse("{}"), value);

it("a log for startSession is refused, and the message names openSession", () => {
  const agent = defineAgent({ llm });
  expect(() => startSession(agent, untyped({ log: {} }))).toThrow(
    "startSession keeps its session in memory. For one in a log: await openSession(agent, { log, id }).",
  );
});

describe("an option under the name that another library gives it", () => {
  it.each(["parameters", "inputSchema", "schema"])("of a tool, %s, is refused: it is input", (name) => {
    const options = { name: "weather", description: "Weather.", execute: () => "ok", [name]: {} };
    expect(() => defineTool(untyped(options))).toThrow('Did you mean "input"?');
  });

  it.each(["handler", "run", "func"])("of a tool, %s, is refused: it is execute", (name) => {
    const options = { name: "weather", description: "Weather.", input, [name]: () => "ok" };
    expect(() => defineTool(untyped(options))).toThrow('Did you mean "execute"?');
  });

  it.each([
    ["instructions", "systemPrompt"],
    ["system", "systemPrompt"],
  ])("of an agent, %s, is refused: it is %s", (name, meant) => {
    expect(() => defineAgent(untyped({ [name]: "x" }))).toThrow(
      `Unknown option "${name}" of defineAgent. Did you mean "${meant}"?`,
    );
  });

  it("of an agent, model, is refused: a name belongs to the adapter, a model is llm", () => {
    expect(() => defineAgent(untyped({ model: "gpt-5.5" }))).toThrow(
      'Unknown option "model" of defineAgent. A model is named in its adapter, such as llm: openai("gpt-5.5"), or in config.models.default.',
    );
    expect(() => defineAgent(untyped({ model: llm }))).toThrow(
      'Unknown option "model" of defineAgent. Did you mean "llm"?',
    );
  });

  it("of askHuman is refused, with the nearest name or all of them", () => {
    expect(() => askHuman(untyped({ anwser: input }))).toThrow(
      'Unknown option "anwser" of askHuman. Did you mean "answer"?',
    );
    expect(() => askHuman(untyped({ zzz: 1 }))).toThrow(
      "Known options: name, description, input, answer, formerNames.",
    );
  });
});

describe("an approval that config does not take", () => {
  const define = (approval: unknown) => () => defineAgent({ llm, config: untyped({ approval }) });

  it("is refused with the way to name a predicate", () => {
    const hint = 'predicates: { name: fn }, config: { approval: { policy: { predicate: "name" } } }';
    expect(define({ policy: () => true })).toThrow(hint);
    expect(define({ policy: { predicate: () => true } })).toThrow(hint);
  });

  it("is refused with the group that the policy belongs to", () => {
    expect(define("always")).toThrow(
      'config.approval must be an object, got "always". Write approval: { policy: "always" }.',
    );
    expect(define("sometimes")).toThrow(/got "sometimes"\.$/);
  });
});

describe("a field of the request that the agent makes itself", () => {
  it.each([
    ["tools", "Give config.settings.providerTools, which are offered beside the tools of the agent."],
    ["system", "Give systemPrompt."],
    ["messages", "They are computed from the conversation."],
    ["input", "It is computed from the conversation."],
    ["previousResponseId", "It is computed from the conversation."],
    ["model", "Give config.models, or the model of the caller."],
    ["max_tokens", "Give config.settings.maxOutputTokens."],
    ["maxCompletionTokens", "Give config.settings.maxOutputTokens."],
    ["tool_choice", "Give config.toolChoice."],
    ["parallelToolCalls", "Give config.toolCalls.parallel."],
    ["stream_options", "The agent reads one answer, streamed, with its usage."],
    ["n", "The agent reads one answer, streamed, with its usage."],
  ])("is refused in providerOptions: %s", async (name, fix) => {
    const settings = { providerOptions: { openai: { [name]: [] } } };
    const refusal = `config.settings.providerOptions.openai.${name} would replace what the agent sends. ${fix}`;
    expect(() => defineAgent({ llm, config: { settings } })).toThrow(refusal);
    await using session = startSession(defineAgent({ llm }));
    await expect(session.configure({ settings })).rejects.toThrow(refusal);
  });

  it("is refused as a tool that the provider runs if it is not an object", () => {
    expect(() =>
      defineAgent({ llm, config: { settings: untyped({ providerTools: { openai: ["web_search"] } }) } }),
    ).toThrow('config.settings.providerTools.openai[0] must be an object, got "web_search".');
  });
});

describe("a name that is nearly a known one", () => {
  const named = (name: string): LlmCaller => ({ name, call: () => llm.call(untyped({})) });
  const search = [{ type: "web_search" }];

  it.each(["providerTools", "providerOptions"])("of a provider, in %s, is refused", async (group) => {
    const settings = untyped({ [group]: { opnai: group === "providerTools" ? search : {} } });
    const refusal = `config.settings.${group}.opnai: "opnai" is not the name of the model's provider. Did you mean "openai"?`;
    for (const name of ["openai", "fallback(anthropic, openai)"]) {
      expect(() => defineAgent({ llm: named(name), config: { settings } })).toThrow(refusal);
      await using session = startSession(defineAgent({ llm: named(name) }));
      await expect(session.configure({ settings })).rejects.toThrow(refusal);
    }
  });

  it.each([
    ["openai-chat", { openai: search }],
    ["openai", { openai: search, "openai-chat": search }],
    ["openai", { anthropic: search }],
    ["google-eu", { google: search }],
  ])("of a provider is kept beside a model of %s where it may be another one: %j", (name, providerTools) => {
    const config = { settings: { providerTools } };
    expect(defineAgent({ llm: named(name), config }).config.settings).toEqual({ providerTools });
  });

  it.each([{ before: () => undefined }, () => "Continue"])("of a control state is refused", (state) => {
    expect(() => defineAgent({ llm, states: untyped({ Actin: state }) })).toThrow(
      'states.Actin: "Actin" is not a state of config.graph. Did you mean "Acting"?',
    );
  });
});

describe("the types of options", () => {
  it("need no type parameters", () => {
    const overrides: Partial<AgentOptions> = { systemPrompt: "Be brief." };
    expectTypeOf(defineAgent({ llm, ...overrides })).toEqualTypeOf<Agent>();
  });

  it("give the input of a tool from its schema alone", () => {
    const options: ToolOptions<typeof input> = {
      name: "weather",
      description: "Weather.",
      input,
      execute: ({ city }) => city,
    };
    expectTypeOf(options.execute).parameter(0).toEqualTypeOf<{ city: string }>();
    expect(defineTool(options).name).toBe("weather");
    expectTypeOf<ToolOptions>().toHaveProperty("input");
  });
});
