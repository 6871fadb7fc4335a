import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { defineTool, type Tool } from "../../src/index.ts";
import { runAlone } from "./run-alone.ts";

const options = { name: "login", description: "Logs in.", execute: () => expect.unreachable() };

const tools: Readonly<Record<string, Tool>> = {
  zod: defineTool({
    ...options,
    input: z.strictObject({
      pin: z.number().max(5),
      mode: z.enum(["fast", "slow"]),
      mail: z.email(),
      id: z.union([z.number(), z.boolean()]),
      list: z.array(z.object({ on: z.boolean() })),
      note: z.string().refine(() => false, { error: (issue) => `No: ${String(issue.input)}` }),
    }),
  }),
  valibot: defineTool({
    ...options,
    input: toStandardJsonSchema(
      v.object({
        pin: v.pipe(v.number(), v.maxValue(5)),
        mode: v.picklist(["fast", "slow"]),
        mail: v.pipe(v.string(), v.email()),
        id: v.union([v.number(), v.boolean()]),
        list: v.array(v.object({ on: v.boolean() })),
        note: v.literal("a"),
      }),
    ),
  }),
  arktype: defineTool({
    ...options,
    input: type({
      pin: "number < 5",
      mode: "'fast'|'slow'",
      mail: "string.email",
      id: "number|boolean",
      list: type({ on: "boolean" }).array(),
      note: "'a'",
    }),
  }),
  "a JSON Schema": defineTool({
    ...options,
    input: {
      type: "object",
      properties: {
        pin: { type: "number", maximum: 5 },
        mode: { enum: ["fast", "slow"] },
        mail: { type: "string", format: "email" },
        id: { anyOf: [{ type: "number" }, { type: "boolean" }] },
        list: { type: "array", items: { type: "object", properties: { on: { type: "boolean" } } } },
        note: { const: "a" },
      },
      required: ["pin", "mode", "mail", "id", "list", "note"],
      additionalProperties: false,
    },
  }),
};

const texts = ["hunter2-secret", 'quo"ted\\secret', "zwölf Geheimnisse", "s3cr", "x".repeat(3_000)];

describe.each(Object.entries(tools))("arguments that do not fit the schema of %s (E11)", (_, tool) => {
  it.each(texts)("are named by their path, without the value %j", async (secret) => {
    const outcome = await runAlone(tool, {
      pin: 41_111_111,
      mode: secret,
      mail: secret,
      id: secret,
      list: [{ on: secret }],
      note: secret,
    });
    const error = outcome.isSuccess ? "" : outcome.error;
    expect(outcome).toMatchObject({ isSuccess: false, code: "invalid-arguments" });
    for (const path of ["pin", "mode", "mail", "id", "list", "note"]) expect(error).toContain(path);
    expect(error).not.toContain(secret.slice(0, 7));
    expect(error).not.toContain(JSON.stringify(secret).slice(1, 7));
    expect(error).not.toContain("41111111");
    expect(new TextEncoder().encode(error).length).toBeLessThanOrEqual(2_048);
  });
});

describe("what a list of issues shows", () => {
  it("is ten at most, and how many more there are", async () => {
    const tool = defineTool({ ...options, input: z.object({ list: z.array(z.number()) }) });
    const outcome = await runAlone(tool, { list: Array.from({ length: 25 }, () => "no") });
    expect(outcome).toMatchObject({ error: expect.stringMatching(/^list\[0\]: .*; and 15 more$/s) });
  });

  it("is short, however long the names of fields are", async () => {
    const tool = defineTool({ ...options, input: z.record(z.string(), z.number()) });
    const outcome = await runAlone(tool, { ["k".repeat(100_000)]: "no", ["😀".repeat(100_000)]: "no" });
    const error = outcome.isSuccess ? "" : outcome.error;
    expect(new TextEncoder().encode(error).length).toBeLessThanOrEqual(2_048);
    expect(error.isWellFormed()).toBe(true);
  });
});
