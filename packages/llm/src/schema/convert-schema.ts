import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import { intersectionOf, objectSchemaOf } from "./object-schema.ts";
import type { SchemaDialect } from "./schema-dialects.ts";
import { areDisjoint, fieldsOf, requiredKeys, resolvePointer } from "./schema-facts.ts";
import { sizesAbove } from "./schema-size.ts";

/** A schema in the form of a dialect. It is exact if its structure is that of the given one: then only limits may be missing. */
export interface ConvertedSchema {
  readonly schema: JsonObject;
  readonly isExact: boolean;
}

/**
 * Converts a schema to one that `dialect` takes, or `wider` if none there is exact. What neither takes is left out and described, so
 * the result fits everything that the schema fits; objects that do not mention other keys are taken to have none. Validate by the
 * given schema.
 */
export function convertSchema(
  schema: JsonObject,
  dialect: SchemaDialect,
  wider: SchemaDialect = dialect,
): ConvertedSchema {
  const converted = new SchemaConverter(schema, dialect).convert();
  if (converted.isExact || wider === dialect) return converted;
  return { ...convertSchema(schema, wider), isExact: false };
}

const limitsOf = (type: string, keywords: string): readonly (readonly [string, string])[] =>
  keywords.split(" ").map((keyword) => [keyword, type]);
/** The types whose values keywords limit. Some dialects do not take a limit; then the description has it. */
const limitedTypes: ReadonlyMap<string, string> = new Map([
  ...limitsOf("string", "pattern format minLength maxLength"),
  ...limitsOf("number", "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"),
  ...limitsOf("array", "minItems maxItems uniqueItems"),
  ...limitsOf("object", "minProperties maxProperties"),
]);
/** Keywords of structure that no dialect takes. */
const structures = [
  ..."prefixItems additionalItems contains unevaluatedItems patternProperties propertyNames".split(" "),
  ..."unevaluatedProperties dependentRequired dependentSchemas dependencies".split(" "),
  ..."not if then else $dynamicRef $recursiveRef".split(" "),
];
const combinations = ["anyOf", "oneOf", "allOf"];
/** Keywords of which a schema has at least one, unless it allows any value. */
const constraints = ["type", "enum", "const", "anyOf", "$ref"];
/** The types of the values of limits that are not numbers. */
const formTypes: Readonly<Record<string, string>> = { pattern: "string", uniqueItems: "boolean" };
/** The most parts that are converted: those of a schema with several types are repeated for each of them. */
const mostParts = 20_000;
/** The longest keyword that a description repeats, in characters. */
const longestNote = 1000;

/** The types of a schema; undefined if any type fits. */
type Types = readonly string[] | undefined;

class SchemaConverter {
  readonly #root: JsonObject;
  readonly #dialect: SchemaDialect;
  readonly #names = new Map<string, string>();
  readonly #open = new Set<string>(["#"]);
  readonly #defs: Record<string, JsonObject> = {};
  #isExact = true;
  #parts = 0;

  constructor(schema: JsonObject, dialect: SchemaDialect) {
    const { $id: _, ...root } = schema;
    this.#root = root;
    this.#dialect = dialect;
  }

  convert(): ConvertedSchema {
    const notes: string[] = [];
    for (const key of [...combinations, "enum", "const"])
      if (key in this.#root) this.#leaveOut(key, this.#root[key], notes);
    if (this.#root["type"] !== "object" || "$ref" in this.#root) this.#isExact = false;
    const root = this.#schema(objectSchemaOf(this.#root) ?? { type: "object" }, 0, notes);
    const schema = Object.keys(this.#defs).length > 0 ? { ...root, $defs: this.#defs } : root;
    return { schema, isExact: this.#isExact && sizesAbove(schema, this.#dialect.limits).length === 0 };
  }

  #schema(given: Json | undefined, depth: number, notes: string[] = []): JsonObject {
    this.#parts += 1;
    if (!isJsonObject(given) || "$id" in given || this.#parts > mostParts) return this.#anything();
    const { $ref, allOf, title, description, ...own } = given;
    if (typeof $ref === "string" && Object.keys(given).length === 1) return this.#reference($ref);
    if (Array.isArray(allOf)) return this.#intersection(given, allOf, depth);
    const types = typesOf(given);
    if (types !== undefined && types.length > 1 && !this.#dialect.typeLists) {
      const branches = types.map((type) => ({ ...own, ...($ref !== undefined && { $ref }), type }));
      const union = { title: title ?? null, description: description ?? null, anyOf: branches };
      return this.#schema(union, depth, notes);
    }
    const converted: JsonObject = {
      ...(types !== undefined && { type: types.length === 1 ? types.join("") : types }),
      ...(typeof title === "string" && { title }),
      ...(typeof description === "string" && { description }),
      ...this.#values(given, types, notes),
      ...this.#limits(given, types, notes),
      ...this.#object(given, types, depth, notes),
      ...this.#list(given, types, depth),
      ...this.#union(given, depth, notes),
    };
    if (!constraints.some((key) => key in converted)) this.#isExact = false;
    const words = [...(typeof description === "string" ? [description] : []), `(${notes.join(", ")})`];
    return notes.length > 0 ? { ...converted, description: words.join(" ") } : converted;
  }

  /** Any value, in place of a schema that cannot be sent. */
  #anything(): JsonObject {
    this.#isExact = false;
    return {};
  }

  /** Mentions what is left out in `notes`, for the description. */
  #leaveOut(key: string, value: Json | undefined, notes: string[], isLimit: boolean = false): void {
    if (!isLimit) this.#isExact = false;
    const text = `${key}: ${JSON.stringify(value)}`;
    if (text.length <= longestNote) notes.push(text);
  }

  #values(schema: JsonObject, types: Types, notes: string[]): JsonObject {
    const { const: value, enum: several } = schema;
    const listed = value === undefined ? several : [value];
    if (!Array.isArray(listed)) return {};
    const distinct = [...new Map(listed.map((one: Json) => [JSON.stringify(one), one])).values()];
    const values = distinct.filter((one) => types === undefined || types.some((type) => isOfType(one, type)));
    const [first] = values;
    if (first === undefined || !values.every((one) => this.#dialect.enumTypes.includes(typeName(one)))) {
      this.#leaveOut("enum", listed, notes);
      return {};
    }
    const isConstant = value !== undefined && this.#dialect.keywords.includes("const");
    return isConstant ? { const: first } : { enum: values };
  }

  /** The keywords that are sent as they are. */
  #limits(schema: JsonObject, types: Types, notes: string[]): JsonObject {
    const sent = Object.entries(schema).filter(([key, value]) => {
      const type = limitedTypes.get(key);
      if (structures.includes(key)) this.#leaveOut(key, value, notes);
      if (type === undefined || !hasType(types, type)) return key === "default" && this.#takes(key, value);
      if (!this.#takes(key, value)) this.#leaveOut(key, value, notes, true);
      return this.#takes(key, value);
    });
    return Object.fromEntries(sent);
  }

  #takes(key: string, value: Json): boolean {
    const { formats, keywords } = this.#dialect;
    if (key === "format") return formats.some((format) => format === value);
    if (key === "pattern" && /\(\?[=!<]|\\[1-9k]/.test(JSON.stringify(value))) return false;
    return keywords.includes(key) && (key === "default" || typeof value === (formTypes[key] ?? "number"));
  }

  #object(schema: JsonObject, types: Types, depth: number, notes: string[]): JsonObject {
    const { properties, additionalProperties: unnamed } = schema;
    const { objects, keys } = this.#dialect;
    const isBare = !isJsonObject(properties);
    if (!hasType(types, "object") || (types === undefined && isBare && unnamed === undefined)) return {};
    const fields = Object.entries(fieldsOf(schema)).filter(([, field]) => field !== false);
    const hidden = fields.filter(([name]) => depth === 0 && keys?.test(name) === false);
    for (const [name, field] of hidden) this.#leaveOut(JSON.stringify(name), field, notes);
    const named = fields.filter((field) => !hidden.includes(field));
    const converted = Object.fromEntries(
      named.map(([name, field]) => [name, this.#schema(field, depth + 1)]),
    );
    const required = requiredKeys(schema).filter((name) => Object.hasOwn(converted, name));
    if (objects === "open") {
      const isWider = hidden.length > 0 || "patternProperties" in schema;
      const other = isJsonObject(unnamed) ? this.#schema(unnamed, depth + 1) : unnamed;
      const others = isWider || (isBare && depth > 0 && other === undefined) ? true : other;
      return {
        properties: converted,
        ...(required.length > 0 && { required }),
        ...(others !== undefined && { additionalProperties: others }),
      };
    }
    const isPlain = !isBare && types !== undefined && !["$ref", ...combinations].some((key) => key in schema);
    const isOptional = required.length < (objects === "complete" ? named : requiredKeys(schema)).length;
    if (!isPlain || isOptional || (unnamed !== undefined && unnamed !== false)) this.#isExact = false;
    return { properties: converted, required, additionalProperties: false };
  }

  #list(schema: JsonObject, types: Types, depth: number): JsonObject {
    const { items, prefixItems } = schema;
    if (!hasType(types, "array") || (types === undefined && items === undefined)) return {};
    return { items: this.#schema(prefixItems === undefined ? items : true, depth + 1) };
  }

  #union(schema: JsonObject, depth: number, notes: string[]): JsonObject {
    const { $ref, anyOf: some, oneOf } = schema;
    const given = { ...($ref !== undefined && { $ref: [{ $ref }] }), anyOf: some, oneOf };
    const [first, ...others] = Object.entries(given).filter(([, branches]) => Array.isArray(branches));
    if (first === undefined) return {};
    const [key, branches = []] = first;
    for (const [other] of others) this.#leaveOut(other, schema[other], notes);
    if (key === "oneOf" && !areDisjoint(branches, this.#root)) this.#isExact = false;
    const possible = [branches].flat().filter((branch) => branch !== false);
    const converted = possible.map((branch) => this.#schema(branch, depth));
    const isUseful = converted.every((branch) => constraints.some((constraint) => constraint in branch));
    if (isUseful && converted.length > 0) return { anyOf: converted };
    this.#leaveOut(key, schema[key], notes);
    return {};
  }

  /** A schema without `allOf`. It gets a name if it has references, because it may contain itself. */
  #intersection({ allOf, ...own }: JsonObject, parts: readonly Json[], depth: number): JsonObject {
    this.#isExact = false;
    const known = parts.map((part) => {
      const ref = parts.length > 1 && isJsonObject(part) ? part["$ref"] : undefined;
      return typeof ref === "string" ? (resolvePointer(this.#root, ref) ?? true) : part;
    });
    const joined = known.filter((part) => isJsonObject(part)).reduce(intersectionOf, own);
    const text = JSON.stringify([own, allOf ?? null]);
    return text.includes('"$ref"') ? this.#definition(text, joined) : this.#schema(joined, depth);
  }

  #reference(ref: string, seen: readonly string[] = []): JsonObject {
    const target = resolvePointer(this.#root, ref);
    const next = isJsonObject(target) && Object.keys(target).length === 1 ? target["$ref"] : undefined;
    if (typeof next === "string" && !seen.includes(next)) return this.#reference(next, [...seen, next]);
    return isJsonObject(target) && next === undefined ? this.#definition(ref, target) : this.#anything();
  }

  /** A reference to a definition, which is added if `key` has none. */
  #definition(key: string, schema: JsonObject): JsonObject {
    const isOpen = this.#open.has(key);
    if (isOpen && !this.#dialect.recursion) return this.#anything();
    const name = this.#names.get(key) ?? this.#newName(key);
    if (!this.#names.has(key)) {
      this.#names.set(key, name);
      this.#open.add(key);
      this.#defs[name] = this.#schema(schema, 1);
      if (!isOpen) this.#open.delete(key);
    }
    return { $ref: `#/$defs/${name}` };
  }

  /** The last step of a pointer, in characters that need no escape. */
  #newName(key: string): string {
    const last = key.startsWith("#/") ? key.split("/").slice(-1).join("") : "root";
    let name = last.replaceAll(/[^A-Za-z0-9_-]/g, "_");
    while ([...this.#names.values()].includes(name)) name += "_";
    return name;
  }
}

const typeName = (value: Json): string =>
  value === null ? "null" : Array.isArray(value) ? "array" : typeof value;

const isOfType = (value: Json, type: string): boolean =>
  type === "integer" ? Number.isInteger(value) : typeName(value) === type;

/** Whether a value may have a type. An integer is a number. */
const hasType = (types: Types, type: string): boolean =>
  types === undefined || types.includes(type) || (type === "number" && types.includes("integer"));

/** The types of a schema, by its values if it has only those; undefined if any type fits. */
function typesOf({ type, const: value, enum: values }: JsonObject): Types {
  const listed = value !== undefined ? [value] : Array.isArray(values) ? values : [];
  const names = type === undefined ? listed.map((one: Json) => typeName(one)) : [type].flat();
  const distinct = [...new Set(names.filter((name) => typeof name === "string"))];
  const isKnown = type !== undefined || !distinct.some((name) => name === "object" || name === "array");
  return distinct.length > 0 && isKnown ? distinct : undefined;
}
