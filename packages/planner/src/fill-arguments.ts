import type { JsonObject } from "@moora/llm";
import { isJsonObject, textToJson } from "@moora/llm/internal";
import type { Clause } from "./clause.ts";
import type { Field } from "./fields.ts";
import { Filler } from "./filler.ts";
import type { Mention } from "./mentions.ts";

/** The arguments of a tool that a request contains. */
export interface Filled {
  readonly values: JsonObject;
  /** Required arguments that it does not contain. */
  readonly missing: readonly Field[];
  /** The evidence of the forms for the tool: an address for an address counts, any word for a text does not. */
  readonly evidence: number;
}

/** Fills arguments from a request, using each piece once. `toolWords` are the words of the tool itself. */
export function fillArguments(
  fields: readonly Field[],
  clause: Clause,
  toolWords: ReadonlySet<string>,
): Filled {
  const whole = clause.mentions.find((mention) => mention.kind === "json" && fits(mention, fields));
  const json = whole === undefined ? undefined : textToJson(whole.text);
  if (isJsonObject(json)) return { values: json, missing: [], evidence: 3 };
  const filler = new Filler(fields, clause, toolWords);
  const values = filler.valuesOf();
  const missing = fields.filter(({ name, isRequired }) => isRequired && !Object.hasOwn(values, name));
  return { values, missing, evidence: filler.evidence };
}

function fits({ text }: Mention, fields: readonly Field[]): boolean {
  const json = textToJson(text);
  if (!isJsonObject(json)) return false;
  const isKnown = Object.keys(json).every((key) => fields.some(({ name }) => name === key));
  return isKnown && fields.every(({ name, isRequired }) => !isRequired || Object.hasOwn(json, name));
}
