import { describe, expect, it } from "vitest";
import type { LlmRequest } from "@moora/llm";
import { answerInstruction, normalizeRequest, withAnswerInstruction } from "@moora/llm/adapter";
import { requestOf } from "./fixtures.ts";

const schema = { type: "object", properties: { n: { type: "number" } } };

const instructed = (
  known: Partial<LlmRequest>,
): { readonly system: string | undefined; readonly warnings: string[] } => {
  const warnings: string[] = [];
  const normalized = normalizeRequest(requestOf(known), { origin: "here" });
  const { system } = withAnswerInstruction(normalized, "toy", (text) => void warnings.push(text));
  return { system, warnings };
};

describe("the schema of an answer that a provider does not accept", () => {
  it("is at the end of the system text, with a warning", () =>
    expect(instructed({ system: "Be brief.", answerSchema: schema })).toEqual({
      system: `Be brief.\n\n${answerInstruction(schema)}`,
      warnings: ["answerSchema is part of the system text and not enforced: toy does not support it here"],
    }));

  it("is the only system text if the request has none", () =>
    expect(instructed({ system: " ", answerSchema: schema }).system).toBe(answerInstruction(schema)));

  it("changes nothing in a request without a schema", () =>
    expect(instructed({ system: "Be brief." })).toEqual({ system: "Be brief.", warnings: [] }));

  it("is JSON", () => expect(answerInstruction(schema)).toContain(JSON.stringify(schema)));
});
