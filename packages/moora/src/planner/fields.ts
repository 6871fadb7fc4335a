import type { Json, JsonObject } from "@moora/llm";
import { isJsonObject } from "@moora/llm/internal";
import { plainWords, wordsOf } from "./words.ts";

/** What a planner knows of one argument of a tool. */
export interface Field {
  readonly name: string;
  /** The words of the name, as they are compared. */
  readonly words: readonly string[];
  /** The words of the name, as they are written. */
  readonly plain: readonly string[];
  readonly description: string;
  readonly type: "string" | "number" | "integer" | "boolean" | "array" | "object" | "any";
  readonly isRequired: boolean;
  readonly schema: JsonObject;
  /** The only values that are allowed, where there are few. */
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

/** A field for the elements of a list, or for anything else that has a schema and no name of its own. */
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

/** Follows one reference inside the schema, and of several alternatives takes the first that is not null. */
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
