import { BuildError, defineTool, type Tool } from "@moora/agent-core-effects";
import type { JsonObject } from "@moora/llm";
import { convertSchema, schemaDialects, type SchemaDialect } from "@moora/llm/adapter";
import { schemaProblems } from "@moora/llm/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { closed, Draw, isCircular, schemaFrom, valueFrom } from "./drawn-schemas.ts";

const { openAiStrict, openAi, chat, chatAnswer, anthropicTool, anthropicAnswer, aiSdkTool, aiSdkAnswer } =
  schemaDialects;

/** What is sent where, and the dialects of all that have to take it. Without `wider` only an exact schema is sent. */
interface Sent {
  readonly dialect: SchemaDialect;
  readonly takes: readonly SchemaDialect[];
  readonly wider?: SchemaDialect;
}

const sent: Readonly<Record<string, Sent>> = {
  OpenAI: { dialect: openAiStrict, takes: [openAiStrict, openAi], wider: openAi },
  "another server with Chat Completions": { dialect: chat, takes: [chat, openAi], wider: chat },
  "the answer of another server": { dialect: chatAnswer, takes: [chat, openAiStrict], wider: chat },
  "a tool of Anthropic": { dialect: anthropicTool, takes: [anthropicTool], wider: anthropicTool },
  "an answer of Anthropic": { dialect: anthropicAnswer, takes: [anthropicAnswer] },
  "a tool of the AI SDK": {
    dialect: aiSdkTool,
    takes: [aiSdkTool, openAi, chat, anthropicTool],
    wider: aiSdkTool,
  },
  "an answer of the AI SDK": { dialect: aiSdkAnswer, takes: [aiSdkAnswer, openAiStrict, anthropicAnswer] },
};

/** A tool with a schema; undefined if `defineTool` refuses it. */
function toolOf(input: JsonObject): Tool | undefined {
  try {
    return defineTool({ name: "t", description: "T.", input, execute: () => "" });
  } catch (error) {
    if (error instanceof BuildError) return undefined;
    throw error;
  }
}

describe("the schema that is sent", () => {
  it.each(Object.entries(sent))(
    "is taken by the provider, and fits what the given one fits: %s",
    (_, { dialect, takes, wider }) => {
      fc.assert(
        fc.property(fc.array(fc.nat(), { minLength: 60, maxLength: 400 }), (numbers) => {
          const draw = new Draw(numbers);
          const schema = schemaFrom(draw);
          const given = isCircular(schema) ? undefined : toolOf(closed(schema));
          const { schema: converted, isExact } = convertSchema(schema, dialect, wider);
          if (given === undefined || (!isExact && wider === undefined)) return;
          for (const one of isExact ? takes : [wider ?? dialect])
            expect([...schemaProblems(converted, one, "t")]).toEqual([]);
          for (let tries = 0; tries < 8; tries += 1) {
            const value = JSON.stringify(valueFrom(schema, schema, draw));
            if (given.check(value) === undefined)
              expect(toolOf(converted)?.check(value), value).toBe(undefined);
          }
        }),
        { numRuns: 300 },
      );
    },
  );
});
