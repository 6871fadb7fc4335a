import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MockLlmCaller, answers, callsTools } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  AgentBuilder,
  AgentEngine,
  AgentError,
  anthropic,
  BuildError,
  chatProfiles,
  defineAgent,
  defineTool,
  jsonlLog,
  LlmOptionError,
  memoryLog,
  openai,
  openaiChat,
  postgresLog,
  runTask,
  sqliteLog,
  startSession,
  ToolRegistry,
} from "../../src/index.ts";

describe("the package moora", () => {
  it("has everything for an agent in one import", async () => {
    const weather = defineTool({
      name: "weather",
      description: "The weather in a city now.",
      input: z.object({ city: z.string() }),
      execute: ({ city }) => ({ city, celsius: 21 }),
    });
    const llm = new MockLlmCaller((_, call) =>
      call % 2 === 0
        ? callsTools([{ name: "weather", arguments: { city: "Oslo" } }])
        : answers("No coat: it is 21 degrees."),
    );
    const engine = new AgentBuilder("Do I need a coat in Oslo?").llm(llm).tool(weather).maxSteps(10).build();
    expect(engine).toBeInstanceOf(AgentEngine);
    expect(await engine.run()).toBe("No coat: it is 21 degrees.");

    const agent = defineAgent({ llm, tools: [weather] });
    expect((await runTask(agent, "Do I need a coat in Oslo?")).answer).toBe("No coat: it is 21 degrees.");
    await using session = startSession(agent);
    expect((await session.ask("Do I need a coat in Oslo?")).answer).toBe("No coat: it is 21 degrees.");

    await expect(new ToolRegistry().execute("weather", "{}")).rejects.toBeInstanceOf(AgentError);
    expect(() => defineTool(JSON.parse("{}"))).toThrow(BuildError);
    expect(() => defineAgent(JSON.parse("{}"))).toThrow(BuildError);
    expect(() => new AgentBuilder("Hello.").build()).toThrow(BuildError);
  });

  it("refuses a task that is not text, in build", () => {
    const llm = new MockLlmCaller([]);
    for (const [task, shown] of [
      ["[]", "an array"],
      ["7", "7"],
      ["null", "null"],
    ] as const) {
      const build = () => new AgentBuilder(JSON.parse(task)).llm(llm).build();
      expect(build).toThrow(BuildError);
      expect(build).toThrow(`The task must be a string, got ${shown}.`);
    }
  });

  it("has every log, and closes unused ones", async () => {
    const folder = mkdtempSync(join(tmpdir(), "moora-logs-"));
    const logs = [
      memoryLog(),
      jsonlLog(join(folder, "jsonl")),
      sqliteLog(join(folder, "sessions.db")),
      postgresLog("postgres://localhost:1/none"),
    ];
    expect(logs.map(({ name }) => name)).toEqual(["memory", "jsonl", "sqlite", "postgres"]);
    for (const log of logs) await log.close();
    rmSync(folder, { recursive: true });
  });

  it("has the models of both providers", () => {
    expect(openai("a").name).toBe("openai");
    expect(anthropic("a").name).toBe("anthropic");
    expect(openaiChat("a", { profile: chatProfiles.groq }).name).toBe("groq");
  });

  it("refuses a misspelled option of a model where it is given, also through the builder", () => {
    const options = JSON.parse('{"baseUrl":"http://127.0.0.1:1"}');
    const builder = new AgentBuilder("Hello.");
    for (const create of [
      () => openai("a", options),
      () => builder.anthropic(options),
      () => builder.groq(options),
    ]) {
      expect(create).toThrow(LlmOptionError);
      expect(create).toThrow('Did you mean "baseURL"?');
    }
  });
});
