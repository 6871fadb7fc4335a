import { defineAgent, defineTool, runTask } from "@moora/agent";
import { chatProfiles, openaiChat } from "@moora/llm-openai";
import { recordingFetch } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { chatDialect } from "@moora/testbed/openai/chat-dialect";

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
