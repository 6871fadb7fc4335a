import type { Json, JsonObject } from "@moora/llm";

/** Draws from numbers, so that fast-check can shrink what they lead to. */
export class Draw {
  readonly #numbers: readonly number[];
  /** Whether schemas are drawn that have a strict form, most often. */
  readonly isTame: boolean;
  #next = 0;
  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
    this.isTame = (numbers.at(-1) ?? 0) % 2 === 1;
  }
  below(limit: number): number {
    const number = this.#numbers[this.#next] ?? 0;
    this.#next += 1;
    return number % limit;
  }
  one<Value>(values: readonly [Value, ...Value[]]): Value {
    return values[this.below(values.length)] ?? values[0];
  }
  chance(of: number): boolean {
    return this.below(of) === of - 1;
  }
  /** Whether something happens that providers seldom take. */
  oddly(of: number): boolean {
    return !this.isTame && this.chance(of);
  }
}

const names = ["a", "b", "kind"] as const;
const constants = ["x", "y", 1, 2.5, true, null, "", { a: 1 }, ["x"]] as const;
const references = [
  "#/$defs/n",
  "#/$defs/m~1o",
  "#/definitions/n",
  "#",
  "#/properties/a",
  "#/properties/a/items",
  "#/anyOf/0",
  "#/properties/b/oneOf/1/properties/a",
] as const;

/** The JSON Schema of a tool, with anything that one may contain. References that lead nowhere are removed. */
export function schemaFrom(draw: Draw): JsonObject {
  const root: JsonObject = {
    ...objectFrom(draw, 2),
    ...((draw.isTame || draw.chance(3)) && { type: "object" }),
    ...(draw.oddly(3) && combinationFrom(draw, 2, true)),
    $defs: { n: partFrom(draw, 2), "m/o": partFrom(draw, 2) },
    definitions: { n: partFrom(draw, 1) },
    ...(draw.chance(4) && { "x-note": 1 }),
  };
  return objectOf(withoutDangling(root, root));
}

const objectOf = (value: Json | undefined): JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};

function partFrom(draw: Draw, depth: number): Json {
  if (depth === 0 && draw.isTame) return scalarFrom(draw);
  if (depth === 0) return draw.one<Json>([scalarFrom(draw), scalarFrom(draw), true, false, {}]);
  switch (draw.isTame ? draw.one([0, 1, 2, 3, 8]) : draw.below(9)) {
    case 0:
      return objectFrom(draw, depth);
    case 1:
      return { ...listFrom(draw, depth) };
    case 2:
      return combinationFrom(draw, depth, draw.oddly(2));
    case 3:
      return { $ref: draw.one(references), ...(draw.chance(2) && { description: "Again." }) };
    case 4:
      return { ...objectFrom(draw, depth), ...combinationFrom(draw, depth, true) };
    case 5:
      return draw.one<Json>([true, false, {}]);
    case 6:
      return {
        ...scalarFrom(draw),
        ...listFrom(draw, depth),
        type: draw.one<Json>([
          ["string", "array"],
          ["array", "null"],
        ]),
      };
    default:
      return scalarFrom(draw);
  }
}

function scalarFrom(draw: Draw): JsonObject {
  const limits = draw.one<JsonObject>([
    {},
    { minLength: 1, pattern: "^(?!z)[a-z]*$" },
    { pattern: "^[xy]*$", maxLength: 2 },
    { minimum: 0, exclusiveMaximum: 9 },
    { format: draw.one(["email", "date-time", "uri", "int32"]) },
    draw.isTame ? {} : { not: { const: "x" } },
    { default: "x", examples: [1], deprecated: true },
    draw.isTame ? {} : { if: { const: "x" }, else: { minLength: 1 } },
  ]);
  switch (draw.below(6)) {
    case 0:
      return { const: draw.one<Json>(constants), ...limits };
    case 1:
      return { enum: [draw.one<Json>(constants), draw.one<Json>(constants), "x"], ...limits };
    case 2:
      return {
        type: draw.one<Json>([
          ["string", "null"],
          ["integer", "boolean"],
          ["object", "null"],
        ]),
        ...limits,
      };
    case 3:
      return { type: "string", enum: ["x", null, "x"], ...limits };
    default:
      return { type: draw.one(["string", "number", "integer", "boolean", "null"]), ...limits };
  }
}

function objectFrom(draw: Draw, depth: number): JsonObject {
  const properties = Object.fromEntries(
    [...names, "filter[id]"].filter(() => draw.chance(2)).map((name) => [name, partFrom(draw, depth - 1)]),
  );
  return {
    ...(!draw.oddly(5) && { type: "object" }),
    ...(!draw.oddly(6) && { properties }),
    ...((draw.isTame || draw.chance(2)) && {
      required: [...Object.keys(properties), ...(draw.chance(4) ? ["a", "a"] : [])],
    }),
    ...(draw.chance(3) && {
      additionalProperties: draw.one<Json>([false, false, true, partFrom(draw, depth - 1)]),
    }),
    ...(draw.oddly(6) && { patternProperties: { "^a": partFrom(draw, depth - 1) } }),
    ...(draw.oddly(6) && { propertyNames: { maxLength: 9 } }),
    ...(draw.oddly(8) && { minProperties: 1 }),
    ...(draw.oddly(8) && { dependentRequired: { a: ["b"] } }),
    ...(draw.oddly(8) && { unevaluatedProperties: false }),
  };
}

function listFrom(draw: Draw, depth: number): JsonObject {
  return {
    type: "array",
    ...((draw.isTame || draw.chance(2)) && { items: partFrom(draw, depth - 1) }),
    ...(draw.oddly(4) && { prefixItems: [partFrom(draw, depth - 1), partFrom(draw, depth - 1)] }),
    ...(draw.oddly(6) && { items: [partFrom(draw, depth - 1), partFrom(draw, depth - 1)] }),
    ...(draw.oddly(6) && { minItems: 1, uniqueItems: true }),
    ...(draw.oddly(8) && { contains: partFrom(draw, 0) }),
  };
}

function combinationFrom(draw: Draw, depth: number, ofObjects: boolean): JsonObject {
  const part = (): Json =>
    ofObjects
      ? draw.one<Json>([objectFrom(draw, depth - 1), { required: [draw.one(names)] }, partFrom(draw, depth)])
      : partFrom(draw, depth - 1);
  const list = (): Json => Array.from({ length: 1 + draw.below(3) }, part);
  return {
    ...(draw.chance(2) ? { anyOf: list() } : { oneOf: list() }),
    ...(draw.oddly(4) && { allOf: list() }),
    ...(draw.oddly(6) && { anyOf: list() }),
    ...(draw.oddly(6) && { $ref: draw.one(references) }),
  };
}

function targetOf(root: JsonObject, ref: string): Json | undefined {
  let at: Json | undefined = root;
  for (const step of ref.split("/").slice(1)) {
    const key = step.replaceAll("~1", "/");
    at = Array.isArray(at)
      ? at[Number(key)]
      : Object.hasOwn(objectOf(at), key)
        ? objectOf(at)[key]
        : undefined;
  }
  return at;
}

/** References that lead nowhere, or in a circle without an object between, fit nothing that can be drawn. */
function withoutDangling(schema: Json, root: JsonObject): Json {
  if (Array.isArray(schema)) return schema.map((one: Json) => withoutDangling(one, root));
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(
        ([key, value]) =>
          key !== "$ref" || (typeof value === "string" && targetOf(root, value) !== undefined),
      )
      .map(([key, value]) => [key, withoutDangling(value, root)]),
  );
}

/** The schema for the same values, if each key of an object has a name in what fits it. */
export function closed<Schema extends Json>(schema: Schema, isValue?: boolean): Schema;
export function closed(schema: Json, isValue = true): Json {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return schema;
  const parts = (value: Json, areValues: boolean): Json =>
    Array.isArray(value)
      ? value.map((one: Json) => closed(one, areValues))
      : Object.fromEntries(
          Object.entries(objectOf(value)).map(([name, one]) => [name, closed(one, areValues)]),
        );
  const fields = Object.entries(schema).map(([key, value]): [string, Json] => {
    if (["properties", "patternProperties", "prefixItems"].includes(key)) return [key, parts(value, true)];
    if (["$defs", "definitions", "anyOf", "oneOf", "allOf"].includes(key)) return [key, parts(value, false)];
    if (key === "items" && Array.isArray(value)) return [key, parts(value, true)];
    return [key, ["items", "additionalProperties"].includes(key) ? closed(value) : value];
  });
  return { ...Object.fromEntries(fields), ...(isValue && { unevaluatedProperties: false }) };
}

/** Whether a validator would follow references for ever without reading a part of the value. */
export function isCircular(root: JsonObject): boolean {
  const parts = new Set<string>();
  const follow = (schema: Json | undefined, open: readonly string[]): boolean => {
    if (Array.isArray(schema)) return schema.some((one: Json) => follow(one, open));
    const { $ref, anyOf = [], oneOf = [], allOf = [] } = objectOf(schema);
    for (const list of [anyOf, oneOf, allOf]) if (follow(list, open)) return true;
    if (typeof $ref !== "string") return false;
    parts.add($ref);
    return open.includes($ref) || follow(targetOf(root, $ref), [...open, $ref]);
  };
  return follow(root, ["#"]) || references.some((ref) => follow(targetOf(root, ref), [ref]));
}

/** A value that may fit a schema. Objects have named keys only, unless the schema mentions others. */
export function valueFrom(given: Json | undefined, root: JsonObject, draw: Draw, depth = 0): Json {
  const schema = joined(given, root, draw, 0);
  if (depth > 5) return draw.one<Json>([null, "x", {}, []]);
  if ("const" in schema) return schema["const"] ?? null;
  if (Array.isArray(schema["enum"])) return schema["enum"][draw.below(schema["enum"].length)] ?? null;
  const fallback =
    "properties" in schema || "required" in schema
      ? "object"
      : "items" in schema
        ? "array"
        : draw.one(["string", "number", "null", "object"]);
  const types = [schema["type"] ?? fallback].flat();
  const type = types[draw.below(types.length)];
  switch (typeof type === "string" ? type : "string") {
    case "object":
      return objectValue(schema, root, draw, depth);
    case "array": {
      const { items, prefixItems } = schema;
      const first = Array.isArray(items) ? items : Array.isArray(prefixItems) ? prefixItems : [];
      return Array.from({ length: draw.below(4) }, (_, index) =>
        valueFrom(first[index] ?? (Array.isArray(items) ? true : items) ?? true, root, draw, depth + 1),
      );
    }
    case "number":
      return draw.one([1, 0.5, 7]);
    case "integer":
      return draw.one([1, 0, 7]);
    case "boolean":
      return draw.one([true, false]);
    case "null":
      return null;
    default:
      return draw.one(["x", "", "y", "yy", "a@b.co", "2026-01-01T00:00:00Z", "https://a.b/"]);
  }
}

function objectValue(schema: JsonObject, root: JsonObject, draw: Draw, depth: number): Json {
  const { properties, required, additionalProperties: unnamed, patternProperties } = schema;
  const must = Array.isArray(required) ? required : [];
  const named = Object.entries(objectOf(properties)).filter(
    ([name]) => must.includes(name) || draw.chance(2),
  );
  const fields = named.map(([name, field]) => [name, valueFrom(field, root, draw, depth + 1)]);
  const others = [
    ...(unnamed === undefined ? [] : [["other", valueFrom(unnamed, root, draw, depth + 1)]]),
    ...Object.values(objectOf(patternProperties)).map((one) => ["an", valueFrom(one, root, draw, depth + 1)]),
  ].filter(() => draw.chance(2));
  return Object.fromEntries([...others, ...fields]);
}

/** A schema with one branch of each union, and with all that it refers to. */
function joined(given: Json | undefined, root: JsonObject, draw: Draw, depth: number): JsonObject {
  const { $ref, anyOf, oneOf, allOf, ...own } = objectOf(given);
  if (depth > 6) return own;
  const parts = [
    ...(typeof $ref === "string" ? [targetOf(root, $ref)] : []),
    ...(Array.isArray(anyOf) ? [anyOf[draw.below(anyOf.length)]] : []),
    ...(Array.isArray(oneOf) ? [oneOf[draw.below(oneOf.length)]] : []),
    ...(Array.isArray(allOf) ? allOf : []),
  ].map((one) => joined(one, root, draw, depth + 1));
  return parts.reduce(
    (sum, part) => ({
      ...sum,
      ...part,
      ...(("properties" in sum || "properties" in part) && {
        properties: { ...objectOf(sum["properties"]), ...objectOf(part["properties"]) },
      }),
      ...(("required" in sum || "required" in part) && {
        required: [...[sum["required"] ?? []].flat(), ...[part["required"] ?? []].flat()],
      }),
    }),
    own,
  );
}
