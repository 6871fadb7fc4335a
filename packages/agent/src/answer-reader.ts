import type { AgentParts } from "@moora/agent-core-effects";
import { refuse, shownValue } from "@moora/agent-core-effects/internal";
import { isJsonObject, textToJson } from "@moora/llm/internal";
import { answerCheck, type AnswerCheck } from "./answer-check.ts";
import { withoutWrapper } from "./answer-schema.ts";

/** Checks and reads the answers of an agent by the schema in force: a session can change `config.answerSchema`. */
export interface AnswerReader {
  readonly problem: NonNullable<AgentParts["answerProblem"]>;
  /** The value of an answer. Rejects with `AgentError` for a text that does not fit. */
  value(text: string, schema: string | null): Promise<unknown>;
}

/**
 * Makes the reader of an agent. `own` is the check for the schema that the agent was defined with. It applies as long as
 * the schema in force is that one; any other text is checked as a JSON Schema. Without `hasType` the value of an answer is its
 * text.
 */
export function answerReader(own: AnswerCheck | undefined, hasType: boolean): AnswerReader {
  const checkOf = latestCheck(own);
  return {
    problem: (text, schema) => checkOf(schema)?.problem(text),
    async value(text, schema) {
      const value = await checkOf(schema)?.value(text);
      return hasType && schema !== null ? value : text;
    },
  };
}

/** The check for the text of a schema. The newest one is kept, because the schema in force seldom changes. */
function latestCheck(own: AnswerCheck | undefined): (schema: string | null) => AnswerCheck | undefined {
  const ownText = own === undefined ? null : schemaText(own);
  let latest: { readonly text: string; readonly check: AnswerCheck } | undefined;
  return (schema) => {
    if (schema === ownText) return own;
    if (schema === null) return undefined;
    if (latest?.text !== schema) latest = { text: schema, check: configuredCheck(schema) };
    return latest.check;
  };
}

/** The text of `config.answerSchema` for a check. */
export const schemaText = ({ json }: AnswerCheck): string => JSON.stringify(json);

/** The check for a text of `config.answerSchema`. Throws `BuildError` for a text that is not a JSON Schema. */
export function configuredCheck(text: unknown): AnswerCheck {
  const schema = typeof text === "string" ? textToJson(text) : undefined;
  if (!isJsonObject(schema))
    return refuse(`config.answerSchema must be the JSON text of a JSON Schema, got ${shownValue(text)}.`);
  return answerCheck(withoutWrapper(schema), "config.answerSchema");
}
