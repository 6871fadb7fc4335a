import { isJsonObject, type Json, type JsonObject } from "./json.ts";
import { areDisjoint, isRecursive } from "./schema-facts.ts";

/** The schema features that a provider enforces while a model generates JSON. A strict schema contains no others. */
export interface StrictRules {
  /** Keywords that are enforced, in addition to types, properties, items, enum, const, anyOf and `$ref`. */
  readonly enforcedKeywords: readonly string[];
  /** Keywords that are not enforced, and that may become part of the description, because the agent checks them. */
  readonly describedKeywords: readonly string[];
  /** Values of `format` that are enforced. */
  readonly enforcedFormats: readonly string[];
  /** Whether a property may be optional. */
  readonly allowsOptionalKeys: boolean;
  /** Whether a schema may contain itself. */
  readonly allowsRecursion: boolean;
}

/** The keywords that limit a value of one type. */
export const limitKeywords: readonly string[] = [
  "pattern",
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "uniqueItems",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
];

const limits = { depth: 10, properties: 5000, enumValues: 1000 };
const droppedKeywords = [
  "$schema",
  "$id",
  "$comment",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
];
const keptKeywords = ["title", "description", "type", "required", "const"];

/**
 * Converts a schema to an equivalent one that a provider can enforce. Returns undefined if no such schema exists: for an optional
 * property, an open record, or a keyword that is not enforced. Objects with properties are closed, and a `oneOf` with
 * disjoint branches becomes `anyOf`.
 */
export function strictSchema(schema: JsonObject, rules: StrictRules): JsonObject | undefined {
  if (schema["type"] !== "object") return undefined;
  if (!rules.allowsRecursion && isRecursive(schema)) return undefined;
  const counts = { properties: 0, enumValues: 0 };
  const strict = new StrictSchemaBuilder(schema, rules, counts).schema(schema, 0);
  return counts.properties > limits.properties || counts.enumValues > limits.enumValues ? undefined : strict;
}

class StrictSchemaBuilder {
  readonly #root: JsonObject;
  readonly #rules: StrictRules;
  readonly #counts: { properties: number; enumValues: number };

  constructor(root: JsonObject, rules: StrictRules, counts: { properties: number; enumValues: number }) {
    this.#root = root;
    this.#rules = rules;
    this.#counts = counts;
  }

  schema(schema: Json | undefined, depth: number): JsonObject | undefined {
    if (!isJsonObject(schema) || depth > limits.depth || !constrainsValue(schema)) return undefined;
    const strict: Record<string, Json> = {};
    const notes: string[] = [];
    for (const [key, value] of Object.entries(schema)) {
      if (droppedKeywords.includes(key)) continue;
      if (this.#rules.describedKeywords.includes(key)) {
        notes.push(`${key}: ${JSON.stringify(value)}`);
        continue;
      }
      const [name, strictValue] = this.#convertKeyword(key, value, depth);
      if (strictValue === undefined) return undefined;
      strict[name] = strictValue;
    }
    if (notes.length > 0) {
      const { description } = strict;
      const prefix = typeof description === "string" ? `${description} ` : "";
      strict["description"] = `${prefix}(${notes.join(", ")})`;
    }
    return this.#closeObject(schema, strict);
  }

  #convertKeyword(key: string, value: Json, depth: number): readonly [string, Json | undefined] {
    if (keptKeywords.includes(key) || this.#rules.enforcedKeywords.includes(key)) return [key, value];
    switch (key) {
      case "properties":
        return [key, this.#convertEach(value, depth + 1, true)];
      case "$defs":
      case "definitions":
        return [key, this.#convertEach(value, depth, false)];
      case "items":
        return [key, this.schema(value, depth + 1)];
      case "anyOf":
        return [key, this.#convertBranches(value, depth)];
      case "oneOf":
        return ["anyOf", areDisjoint(value, this.#root) ? this.#convertBranches(value, depth) : undefined];
      case "enum":
        this.#counts.enumValues += Array.isArray(value) ? value.length : 0;
        return [key, value];
      case "format":
        return [
          key,
          typeof value === "string" && this.#rules.enforcedFormats.includes(value) ? value : undefined,
        ];
      case "additionalProperties":
        return [key, value === false ? value : undefined];
      case "$ref":
        return [key, typeof value === "string" && value.startsWith("#") ? value : undefined];
      default:
        return [key, undefined];
    }
  }

  #convertEach(value: Json, depth: number, properties: boolean): JsonObject | undefined {
    if (!isJsonObject(value)) return undefined;
    if (properties) this.#counts.properties += Object.keys(value).length;
    const strict: (readonly [string, JsonObject])[] = [];
    for (const [name, schema] of Object.entries(value)) {
      const one = this.schema(schema, depth);
      if (one === undefined) return undefined;
      strict.push([name, one]);
    }
    return Object.fromEntries(strict);
  }

  #convertBranches(value: Json, depth: number): readonly JsonObject[] | undefined {
    if (!Array.isArray(value)) return undefined;
    const strict = value.map((branch: Json) => this.schema(branch, depth));
    return strict.includes(undefined) ? undefined : strict.filter((branch) => branch !== undefined);
  }

  /** Closes an object: it has its own properties only, and all of them are required unless the provider allows optional ones. */
  #closeObject(schema: JsonObject, strict: JsonObject): JsonObject | undefined {
    if ("$ref" in schema && Object.keys(schema).length > 1) return undefined;
    const types = [schema["type"]].flat();
    if (types.includes("array") && !("items" in schema)) return undefined;
    if (!types.includes("object")) return "properties" in schema ? undefined : strict;
    const { properties } = schema;
    if (!isJsonObject(properties)) return undefined;
    const required = schema["required"] ?? [];
    const isRequired = (key: string): boolean => Array.isArray(required) && required.includes(key);
    if (!this.#rules.allowsOptionalKeys && !Object.keys(properties).every(isRequired)) return undefined;
    return { ...strict, required, additionalProperties: false };
  }
}

/** Whether a schema restricts its values. One that allows any value cannot be enforced. */
const constrainsValue = (schema: JsonObject): boolean =>
  ["type", "enum", "const", "anyOf", "oneOf", "$ref"].some((key) => key in schema);
