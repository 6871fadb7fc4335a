import { defineAgent } from "@moora/agent";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { AgentBuilder } from "../../src/builder/agent-builder.ts";
import { answer, errorOf, notesIn, task, thrownBy } from "./support/runs.ts";
import { currentTimeTool } from "@moora/tools";
import { deleteTool, weatherTool } from "./support/tools.ts";

const llm = new MockLlmCaller([]);
const builder = new AgentBuilder(task).llm(llm);

describe("invalid builders", () => {
  it("builder_requires_llm", () => {
    const error = thrownBy(() => new AgentBuilder(task).tool(weatherTool()).build());
    expect(error).toMatchObject({ kind: "BuildError", message: expect.stringContaining("llm") });
  });

  it.each([
    ["a blank task", new AgentBuilder(" \n").llm(llm), "task"],
    ["no step at all", builder.maxSteps(0), "maxSteps"],
    ["half a step", builder.maxSteps(1.5), "maxSteps"],
    ["a budget that is not a number", builder.maxTokens(Number.NaN), "maxTokens"],
    [
      "two tools of one name",
      builder.tool(weatherTool()).tool(weatherTool()),
      'the tool name "weather" is taken',
    ],
    ["a row to nowhere", builder.transition("Planning", "LlmFinalAnswer", "Review"), "Review"],
    ["a state without a handler", builder.config({ graph: oneState }), "Review has no handler"],
    ["a state that no row leads to", builder.state("Review", () => "Approve"), "No row leads to"],
    [
      "a state of ours",
      builder.state("Planning", () => "Approve"),
      "Planning is built in. Give it { before, after }",
    ],
    [
      "a state with two handlers",
      builder.state("Review", () => "Yes").state("Review", () => "No"),
      'Duplicate state "Review"',
    ],
  ])("is %s", (_, unbuildable, problem) => {
    expect(thrownBy(() => unbuildable.build())).toMatchObject({
      kind: "BuildError",
      message: expect.stringContaining(problem),
    });
  });
});

const oneState = {
  states: ["Review"],
  terminals: [],
  rows: { Planning: { LlmFinalAnswer: "Review" }, Review: { Approve: "Done" } },
};

describe("the defaults of a builder", () => {
  it("are those of defineAgent", () => {
    expect(builder.build().agent.config).toEqual(defineAgent({ llm }).config);
  });

  it("accept a short answer", async () => {
    const mock = new MockLlmCaller(() => answers("42."));
    const engine = new AgentBuilder("What is 6*7? Only the number.").llm(mock).build();
    expect(await engine.run()).toBe("42.");
    expect(mock.callCount).toBe(1);
  });

  it("are the limits of the hybrid machine when the preset is chosen", () => {
    expect(builder.preset("hybrid").build().agent.config).toEqual(
      defineAgent({
        llm,
        config: { limits: { maxSteps: 15, minAnswerLength: 20 }, reflection: { everyNSteps: 5 } },
      }).config,
    );
  });

  it("give way to fields that are set, before the preset is chosen or after", () => {
    const change = { limits: { maxSteps: 4, minAnswerLength: 1 }, reflection: { everyNSteps: 0 } };
    expect(builder.config(change).preset("hybrid").build().agent.config).toMatchObject(change);
    expect(builder.preset("hybrid").config(change).build().agent.config).toMatchObject(change);
  });

  it("cannot be a preset that does not exist", () => {
    const unknown: { readonly name: never } = JSON.parse('{ "name": "hybird" }');
    expect(thrownBy(() => builder.preset(unknown.name).build())).toMatchObject({
      kind: "BuildError",
      message: 'Unknown preset "hybird". Available presets: hybrid.',
    });
  });
});

describe("a change that is not an object is refused by build()", () => {
  it.each<[unknown, string]>([
    [5, "config(...) needs an object of fields, got 5."],
    [null, "config(...) needs an object of fields, got null."],
    [{ limits: 5 }, "config.limits must be an object, got 5."],
    [{ budget: 5 }, "config.budget must be an object, got 5."],
    [{ approval: true }, "config.approval must be an object, got true."],
    [{ toolCalls: null }, "config.toolCalls must be an object, got null."],
    [{ graph: "abc" }, 'config.graph must be an object, got "abc".'],
  ])("%j", (change, message) => {
    const changed: typeof builder = Reflect.apply(builder.config, builder, [change]);
    expect(thrownBy(() => changed.build())).toMatchObject({ kind: "BuildError", message });
  });
});

describe("the methods of a builder", () => {
  it("sets the configuration", () => {
    const { config } = builder
      .systemPrompt("Be brief.")
      .taskType("research")
      .maxSteps(7)
      .parallelTools(false)
      .maxTokens(900)
      .tool(deleteTool())
      .blacklistTool("delete_file")
      .approvalPolicy({ above: "medium" })
      .build().agent;
    expect(config).toMatchObject({
      systemPrompt: "Be brief.",
      taskType: "research",
      limits: { maxSteps: 7 },
      toolCalls: { parallel: false, blacklist: ["delete_file"] },
      budget: { maxTokens: 900 },
      approval: { policy: { above: "medium" } },
    });
  });

  it("keeps a limit when another one is set", () => {
    const { config } = builder
      .maxTokens(900)
      .tool(weatherTool())
      .tool(deleteTool())
      .tool(currentTimeTool())
      .blacklistTool("delete_file")
      .approvalPolicy("always")
      .model("big")
      .config({
        budget: { maxCost: 2 },
        toolCalls: { blacklist: ["current_time"] },
        models: { reflect: "small" },
        approval: { policy: "always", expiresAfterMs: 60_000 },
      })
      .approvalPolicy({ tools: ["weather"] })
      .build().agent;
    expect(config).toMatchObject({
      budget: { maxTokens: 900, maxCost: 2 },
      toolCalls: { blacklist: ["delete_file", "current_time"] },
      models: { default: "big", reflect: "small" },
      approval: { policy: { tools: ["weather"] }, expiresAfterMs: 60_000 },
    });
  });

  it("does not change the builder that it is called on", () => {
    const withTool = builder.tool(weatherTool()).maxSteps(3);
    expect(Object.keys(builder.build().agent.tools)).toEqual([]);
    expect(builder.build().agent.config.limits.maxSteps).toBe(50);
    expect(Object.keys(withTool.build().agent.tools)).toEqual(["weather"]);
  });
});

const asked = async (words: (base: AgentBuilder) => AgentBuilder): Promise<MockLlmCaller> => {
  const mock = new MockLlmCaller([answers(answer)]);
  await words(new AgentBuilder(task).llm(mock)).build().run();
  return mock;
};

describe("the models of a builder", () => {
  it("calls the default model", async () => {
    const mock = await asked((base) => base.model("big"));
    expect(mock.modelForCall(0)).toBe("big");
  });

  it("calls the model of the task type", async () => {
    const mock = await asked((base) =>
      base.model("big").modelFor("calculation", "exact").taskType("calculation"),
    );
    expect(mock.modelForCall(0)).toBe("exact");
  });

  it("calls the default model for a task type without a model", async () => {
    const mock = await asked((base) =>
      base.modelFor("calculation", "exact").model("big").taskType("research"),
    );
    expect(mock.modelForCall(0)).toBe("big");
  });

  it("sends the system prompt, the task and the tools", async () => {
    const mock = await asked((base) => base.systemPrompt("Be brief.").tool(weatherTool()));
    expect(mock.requests[0]).toMatchObject({
      purpose: "plan",
      system: "Be brief.",
      messages: [{ role: "user", content: [{ type: "text", text: task }] }],
      tools: [{ name: "weather", description: "The weather in a city now." }],
      parallelToolCalls: true,
    });
    expect(notesIn(mock.requests[0])).toEqual([]);
  });
});

describe("the providers of a builder", () => {
  it.each([
    ["openai", new AgentBuilder(task).openai({ apiKey: "k" })],
    ["anthropic", new AgentBuilder(task).anthropic({ apiKey: "k" })],
    ["groq", new AgentBuilder(task).groq({ apiKey: "k" })],
    ["ollama", new AgentBuilder(task).ollama()],
  ])("knows %s", (name, base) => {
    expect(base.build().agent.parts.llm.name).toBe(name);
  });

  it("sends a run to the server of its provider", async () => {
    const sent: { url: string; body: unknown }[] = [];
    const refuse: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      sent.push({ url: request.url, body: await request.json() });
      return new Response('{"error":{"message":"no"}}', { status: 401 });
    };
    const engine = new AgentBuilder(task).groq({ apiKey: "k", fetch: refuse }).model("llama").build();
    expect(await errorOf(engine.run())).toMatchObject({ kind: "LlmError", reason: "auth" });
    expect(sent).toMatchObject([
      { url: "https://api.groq.com/openai/v1/chat/completions", body: { model: "llama" } },
    ]);
  });
});
