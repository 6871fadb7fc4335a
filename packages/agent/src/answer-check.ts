import { AgentError, type CheckedValue, type StandardSchema } from "@moora/agent-core-effects";
import { after, schemaCheckOf } from "@moora/agent-core-effects/internal";
import { maxJsonItems } from "@moora/agent-core-state-machine/internal";
import type { JsonObject } from "@moora/llm";
import { hasMoreItemsThan, isJsonObject, lostInJson } from "@moora/llm/internal";
import { answerInvalidText, answerProblemText, lastAnswerText } from "./answer-failure.ts";
import { answerSchemaOf } from "./answer-schema.ts";

/** Checks the answers of an agent against its schema. */
export interface AnswerCheck {
  /** The JSON Schema that is sent to the provider: its root is an object. */
  readonly json: JsonObject;
  /**
   * The reason why an answer does not fit and the schema, as a text for the model. Undefined for an answer that fits.
   */
  problem(text: string): string | undefined | Promise<string | undefined>;
  /** The answer as the output of the schema. Rejects with `AgentError` for a text that does not fit. */
  value(text: string): Promise<unknown>;
}

type Checked = CheckedValue<unknown> | Promise<CheckedValue<unknown>>;

/** Makes the check for a schema. Throws `BuildError`, with `place` in its message, for a schema that cannot be used. */
export function answerCheck(schema: StandardSchema | JsonObject, place: string): AnswerCheck {
  const check = schemaCheckOf(schema, undefined, place);
  const { json, isWrapped } = answerSchemaOf(check.json);
  const checked = (text: string): Checked => {
    const parsed = textToValue(text);
    if ("problem" in parsed) return { ok: false, problem: parsed.problem };
    return isWrapped ? checkWrapped(check.check, parsed.value) : check.check(parsed.value);
  };
  return {
    json,
    problem: (text) =>
      after(checked(text), (found) =>
        found.ok ? undefined : answerProblemText(found.problem, JSON.stringify(json)),
      ),
    async value(text) {
      const result = await checked(text);
      if (result.ok) return result.value;
      const message = `The answer does not fit its schema: ${result.problem} ${lastAnswerText(text)}`;
      throw new AgentError("AgentFailed", message, {
        reason: "AnswerInvalid",
        publicMessage: answerInvalidText,
      });
    },
  };
}

/**
 * Checks the field `value`, or the answer itself: a model that only reads the schema may leave out the object around
 * it.
 */
function checkWrapped(check: (value: unknown) => Checked, value: unknown): Checked {
  const field = isJsonObject(value) && Object.hasOwn(value, "value") ? value["value"] : value;
  return field === value
    ? check(value)
    : after(check(field), (found) =>
        found.ok ? found : after(check(value), (unwrapped) => (unwrapped.ok ? unwrapped : found)),
      );
}

function textToValue(text: string): { readonly value: unknown } | { readonly problem: string } {
  const json = withoutFence(withoutThinking(text.trim()));
  if (hasMoreItemsThan(json, maxJsonItems))
    return { problem: `The answer has more than ${maxJsonItems} keys and items.` };
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return { problem: "The answer is not JSON." };
  }
  const problem = lostInJson(json);
  return problem === undefined ? { value } : { problem };
}

const thinkingEnd = "</think>";

/** The text after the thinking at its beginning, which some servers leave there, also without its first tag. */
function withoutThinking(text: string): string {
  const end = /^[{["]/.test(text) ? -1 : text.indexOf(thinkingEnd);
  return end === -1 ? text : text.slice(end + thinkingEnd.length).trim();
}

const fence = "```";

/** The text without a code fence around it, which models often add to JSON. */
function withoutFence(text: string): string {
  const start = text.indexOf("\n");
  const isFenced = text.startsWith(fence) && text.endsWith(fence) && start !== -1;
  return isFenced ? text.slice(start, -fence.length) : text;
}
