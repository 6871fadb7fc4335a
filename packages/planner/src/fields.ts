import type { Json, JsonObject } from "@moora/llm";
import { isJsonObject } from "@moora/llm/internal";
import { plainWords, wordsOf } from "./words.ts";

/** One argument of a tool. */
export interface Field {
  readonly name: string;
  /** The stems of the words of the name. */
  readonly words: readonly string[];
  /** The words of the name. */
  readonly plain: readonly string[];
  readonly description: string;
  readonly type: "string" | "number" | "integer" | "boolean" | "array" | "object" | "any";
  readonly isRequired: boolean;
  readonly schema: JsonObject;
  /** The allowed values, if the schema lists them. */
  readonly choices: readonly Json[];
}

/** The arguments that an object schema describes, in its order. */
export function fieldsOf(schema: JsonObject, root: JsonObject = schema): readonly Field[] {
  const properties = objectAt(schema, "properties");
  const required = schema["required"];
  return Object.entries(properties).map(([name, property]) =>
    fieldOf(name, resolved(property, root), Array.isArray(required) && required.includes(name)),
  );
}

/** A field for the elements of an array, or for another schema without a name. */
export const fieldOf = (name: string, schema: JsonObject, isRequired: boolean): Field => ({
  name,
  words: wordsOf(name),
  plain: plainWords(name),
  description: textAt(schema, "description"),
  type: typeOf(schema),
  isRequired,
  schema,
  choices: choicesOf(schema),
});

export const textAt = (schema: JsonObject, name: string): string => {
  const value = Object.hasOwn(schema, name) ? schema[name] : undefined;
  return typeof value === "string" ? value : "";
};

export const objectAt = (schema: JsonObject, name: string): JsonObject => {
  const value = Object.hasOwn(schema, name) ? schema[name] : undefined;
  return isJsonObject(value) ? value : {};
};

export const numberAt = (schema: JsonObject, name: string): number | undefined => {
  const value = Object.hasOwn(schema, name) ? schema[name] : undefined;
  return typeof value === "number" ? value : undefined;
};

/** Follows one reference inside the schema, and chooses the first alternative that is not null. */
function resolved(property: Json | undefined, root: JsonObject): JsonObject {
  if (!isJsonObject(property)) return {};
  const reference = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(textAt(property, "$ref"));
  if (reference !== null) {
    const [, section = "", name = ""] = reference;
    return { ...objectAt(objectAt(root, section), name), ...property };
  }
  for (const word of ["anyOf", "oneOf"]) {
    const alternatives = property[word];
    if (!Array.isArray(alternatives)) continue;
    const first = alternatives.filter(isJsonObject).find((one) => one["type"] !== "null");
    if (first !== undefined) return { ...first, ...property };
  }
  return property;
}

const knownTypes = ["string", "number", "integer", "boolean", "array", "object"] as const;

function typeOf(schema: JsonObject): Field["type"] {
  const { type } = schema;
  const names = Array.isArray(type) ? type : [type];
  return knownTypes.find((known) => names.includes(known)) ?? "any";
}

function choicesOf(schema: JsonObject): readonly Json[] {
  if (Array.isArray(schema["enum"])) return schema["enum"];
  return "const" in schema && schema["const"] !== undefined ? [schema["const"]] : [];
}
