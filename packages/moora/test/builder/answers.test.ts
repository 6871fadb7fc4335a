import { defineAgent, defineTool, runTask } from "@moora/agent";
import { chatProfiles, openaiChat } from "@moora/llm-openai";
import { MockLlmCaller, answers, recordingFetch } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { chatDialect } from "@moora/testbed/openai/chat-dialect";
import { AgentBuilder } from "../../src/builder/agent-builder.ts";
import { errorOf, notesIn, task } from "./support/runs.ts";

const search = defineTool({
  name: "search",
  description: "Finds pages.",
  input: z.object({ text: z.string() }),
  execute: () => [],
});

describe.each(Object.values(chatProfiles))("an agent with a tool and a typed answer at $name", (profile) => {
  const asked = async (
    answer: z.ZodType,
    text: string,
  ): Promise<{ readonly answer: unknown; readonly body: string }> => {
    const { fetch, bodies } = recordingFetch(chatDialect(), { text: [text] });
    const llm = openaiChat("m", { profile, fetch, apiKey: "some-key" });
    const result = await runTask(defineAgent({ llm, tools: [search], answer }), "Which book is it?");
    return { answer: result.answer, body: JSON.stringify(bodies[0]) };
  };

  it("sends the schema of the answer to the model", async () => {
    const { answer, body } = await asked(z.object({ book_title: z.string() }), '{"book_title":"Hunger"}');
    expect(answer).toEqual({ book_title: "Hunger" });
    expect(body).toContain("book_title");
  });

  it("sends an enum as the field of an object", async () => {
    const { answer, body } = await asked(z.enum(["novel", "poetry"]), '{"value":"poetry"}');
    expect(answer).toBe("poetry");
    expect(body).toContain("novel");
    expect(body).toContain("value");
  });
});

describe("the answer of a builder", () => {
  const sum = z.object({ sum: z.number() }).refine(({ sum: found }) => found > 0, "The sum is above 0.");
  const builder = new AgentBuilder(task).config({ limits: { minAnswerLength: 0 } });

  it("is requested again until it fits, and run resolves with its text", async () => {
    const llm = new MockLlmCaller([answers('{"sum":-1}'), answers('{"sum":3}')]);
    expect(await builder.llm(llm).answer(sum).build().run()).toBe('{"sum":3}');
    expect(notesIn(llm.requests[1])[0]).toContain("The sum is above 0.");
  });

  it("fails the run if it never fits", async () => {
    const llm = new MockLlmCaller(() => answers("three"));
    const engine = builder
      .llm(llm)
      .answer(sum)
      .config({ retries: { maxAnswerRetries: 1 } })
      .build();
    expect(await errorOf(engine.run())).toMatchObject({ kind: "AgentFailed", reason: "AnswerInvalid" });
    expect(llm.callCount).toBe(2);
  });
});
