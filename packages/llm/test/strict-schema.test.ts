import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "@moora/llm";
import { strictSchema, type StrictRules } from "@moora/llm/adapter";

const object = (properties: JsonObject, known: JsonObject = {}): JsonObject => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...known,
});

/** A provider that requires every property, and enforces bounds. */
const everyKey: StrictRules = {
  enforcedKeywords: ["pattern", "minimum", "maximum"],
  describedKeywords: [],
  enforcedFormats: ["date-time"],
  allowsOptionalKeys: false,
  allowsRecursion: true,
};
/** A provider that allows optional properties, and enforces types only. */
const typesOnly: StrictRules = {
  enforcedKeywords: [],
  describedKeywords: ["minimum", "maximum", "minLength"],
  enforcedFormats: ["uri"],
  allowsOptionalKeys: true,
  allowsRecursion: false,
};
const strict = (schema: JsonObject): JsonObject | undefined => strictSchema(schema, everyKey);
const loose = (schema: JsonObject): JsonObject | undefined => strictSchema(schema, typesOnly);
const branch = (kind: string, known: JsonObject = {}): JsonObject =>
  object({ kind: { const: kind }, ...known });

describe("a schema that can be strict", () => {
  it("has closed objects at every depth", () => {
    const open = {
      type: "object",
      properties: { list: { type: "array", items: { type: "object", properties: {} } } },
      required: ["list"],
    };
    expect(strict(open)).toEqual(object({ list: { type: "array", items: object({}) } }));
  });

  it("has no annotations", () => {
    expect(
      strict({
        $schema: "https://json-schema.org/draft/2020-12/schema",
        ...object({ a: { type: "string", description: "A letter.", default: "a", examples: ["b"] } }),
      }),
    ).toEqual(object({ a: { type: "string", description: "A letter." } }));
  });

  it.each<[string, JsonObject]>([
    ["bounds and patterns", { a: { type: "integer", minimum: 0 }, b: { type: "string", pattern: "^a" } }],
    ["a known format", { a: { type: "string", format: "date-time" } }],
    ["a type or null", { a: { type: ["string", "null"] } }],
    ["an enum", { a: { enum: ["x", "y"] } }],
    ["anyOf", { a: { anyOf: [{ type: "string" }, { type: "null" }] } }],
    [
      "a property with the name of a keyword",
      { default: { type: "string" }, additionalProperties: { type: "string" } },
    ],
  ])("keeps %s", (_, properties) => {
    expect(strict(object(properties))).toEqual(object(properties));
  });

  it.each<[string, Json[]]>([
    ["a key with a different constant in each", [branch("a"), branch("b", { x: { type: "string" } })]],
    ["their types", [{ type: "string" }, { type: "number" }, { type: "null" }]],
  ])("has anyOf instead of oneOf with branches that are disjoint by %s", (_, branches) => {
    expect(strict(object({ a: { oneOf: branches } }))).toEqual(object({ a: { anyOf: branches } }));
  });

  it("may have references in disjoint branches", () => {
    const $defs = { a: branch("a"), b: branch("b") };
    const refs = [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/b" }];
    expect(strict(object({ x: { oneOf: refs } }, { $defs }))).toEqual(
      object({ x: { anyOf: refs } }, { $defs }),
    );
  });

  it("may contain itself if the provider allows recursion", () => {
    const node = object({ next: { anyOf: [{ $ref: "#" }, { type: "null" }] } });
    expect(strict(node)).toEqual(node);
    expect(loose(node)).toBeUndefined();
    const list = object({ a: { $ref: "#/$defs/n" } }, { $defs: { n: object({ n: { $ref: "#/$defs/n" } }) } });
    expect(loose(list)).toBeUndefined();
  });
});

describe("a schema without an equivalent strict one", () => {
  it.each<[string, JsonObject]>([
    ["an optional property", { ...object({ a: { type: "string" } }), required: [] }],
    ["a record", object({ a: { type: "object", additionalProperties: { type: "string" } } })],
    ["an object of any keys", object({ a: { type: "object" } })],
    ["an open object", { ...object({ a: { type: "string" } }), additionalProperties: true }],
    ["any value", object({ a: {} })],
    ["a schema that is true", object({ a: true })],
    ["a list of anything", object({ a: { type: "array" } })],
    [
      "a tuple",
      object({ a: { type: "array", prefixItems: [{ type: "string" }], items: { type: "string" } } }),
    ],
    ["a length that is not enforced", object({ a: { type: "string", minLength: 1 } })],
    ["a format that is not enforced", object({ a: { type: "string", format: "uri" } })],
    ["allOf", object({ a: { allOf: [{ type: "string" }] } })],
    ["not", object({ a: { type: "string", not: { const: "x" } } })],
    ["branches that overlap", object({ a: { oneOf: [{ type: "integer" }, { type: "number" }] } })],
    ["branches with the same constant", object({ a: { oneOf: [branch("a"), branch("a")] } })],
    ["a reference with other keywords", object({ a: { $ref: "#", description: "again" } })],
    ["a reference to another document", object({ a: { $ref: "https://example.com/x" } })],
    ["a root that is not an object", { type: "string" }],
    ["a root of branches", { anyOf: [object({})] }],
  ])("is not converted: %s", (_, schema) => {
    expect(strict(schema)).toBeUndefined();
  });

  it("is not converted if it is too deep or too large", () => {
    let deep: JsonObject = object({});
    for (let depth = 0; depth < 11; depth += 1) deep = object({ deep });
    expect(strict(deep)).toBeUndefined();
    const values = Array.from({ length: 1001 }, (_, index) => `v${index}`);
    expect(strict(object({ a: { enum: values } }))).toBeUndefined();
  });
});

describe("a schema for a provider that enforces less", () => {
  it("may have optional properties", () => {
    const schema = { ...object({ a: { type: "string", format: "uri" } }), required: [] };
    expect(loose(schema)).toEqual(schema);
  });

  it("has unenforced keywords in its descriptions", () => {
    expect(
      loose(object({ age: { type: "integer", description: "In years.", minimum: 0, maximum: 150 } })),
    ).toEqual(object({ age: { type: "integer", description: "In years. (minimum: 0, maximum: 150)" } }));
    expect(loose(object({ a: { type: "string", minLength: 1 } }))).toEqual(
      object({ a: { type: "string", description: "(minLength: 1)" } }),
    );
  });
});
