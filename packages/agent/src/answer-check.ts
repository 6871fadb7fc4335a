import { schemaCheckOf, type CheckedValue, type StandardSchema } from "@moora/agent-core-effects";
import type { JsonObject } from "@moora/llm";
import { AgentError } from "./agent-error.ts";

/** The schema of an agent's answers in use. */
export interface AnswerCheck {
  readonly json: JsonObject;
  problem(text: string): string | undefined | Promise<string | undefined>;
  /** Rejects for a text that does not fit. */
  value(text: string): Promise<unknown>;
}

export function answerCheck(schema: StandardSchema | JsonObject): AnswerCheck {
  const check = schemaCheckOf(schema, undefined);
  const checked = (text: string): CheckedValue<unknown> | Promise<CheckedValue<unknown>> => {
    const parsed = textToValue(text);
    return parsed === undefined ? { ok: false, problem: "It is not JSON." } : check.check(parsed.value);
  };
  return {
    json: check.json,
    problem(text) {
      const result = checked(text);
      return result instanceof Promise ? result.then(problemOf) : problemOf(result);
    },
    async value(text) {
      const result = await checked(text);
      if (result.ok) return result.value;
      throw new AgentError("AgentFailed", `The answer does not fit its schema: ${result.problem}`, {
        reason: "AnswerInvalid",
      });
    },
  };
}

const problemOf = (checked: CheckedValue<unknown>): string | undefined =>
  checked.ok ? undefined : checked.problem;

function textToValue(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
