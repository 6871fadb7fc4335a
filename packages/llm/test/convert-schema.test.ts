import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "@moora/llm";
import { convertSchema, schemaDialects } from "@moora/llm/adapter";

const object = (properties: JsonObject, known: JsonObject = {}): JsonObject => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...known,
});

const exact = (schema: JsonObject, dialect: keyof typeof schemaDialects): JsonObject | undefined => {
  const { schema: converted, isExact } = convertSchema(schema, schemaDialects[dialect]);
  return isExact ? converted : undefined;
};
/** A dialect that requires every property, and enforces bounds. */
const strict = (schema: JsonObject): JsonObject | undefined => exact(schema, "openAiStrict");
/** A dialect that allows optional properties, and enforces types only. */
const loose = (schema: JsonObject): JsonObject | undefined => exact(schema, "anthropicAnswer");
const branch = (kind: string, known: JsonObject = {}): JsonObject =>
  object({ kind: { type: "string", const: kind }, ...known });

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
    ["an enum", { a: { type: "string", enum: ["x", "y"] } }],
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
    const node = (ref: string): JsonObject => object({ next: { anyOf: [{ $ref: ref }, { type: "null" }] } });
    const root = node("#/$defs/root");
    expect(strict(node("#"))).toEqual({ ...root, $defs: { root } });
    expect(loose(node("#"))).toBeUndefined();
    const list = object({ a: { $ref: "#/$defs/n" } }, { $defs: { n: object({ n: { $ref: "#/$defs/n" } }) } });
    expect(strict(list)).toEqual(list);
    expect(loose(list)).toBeUndefined();
  });

  it("has definitions for what references point to", () => {
    const status = { type: "string", enum: ["open", "done"] };
    const item = { $ref: "#/properties/status" };
    const parts = {
      status,
      filter: { type: "array", items: item },
      when: { oneOf: [object({}), { type: "null" }] },
    };
    expect(strict(object({ ...parts, until: { $ref: "#/properties/when/oneOf/0" } }))).toEqual(
      object(
        {
          status,
          filter: { type: "array", items: { $ref: "#/$defs/status" } },
          when: { anyOf: [object({}), { type: "null" }] },
          until: { $ref: "#/$defs/0" },
        },
        { $defs: { status, "0": object({}) } },
      ),
    );
  });

  it("has a description beside a reference", () => {
    const $defs = { q: { type: "string" } };
    expect(strict(object({ a: { $ref: "#/$defs/q", description: "Which." } }, { $defs }))).toEqual(
      object({ a: { anyOf: [{ $ref: "#/$defs/q" }], description: "Which." } }, { $defs }),
    );
  });

  it("has the type of its values", () => {
    expect(strict(object({ a: { const: 1 }, b: { enum: ["x", null, "x"] } }))).toEqual(
      object({ a: { type: "number", const: 1 }, b: { type: ["string", "null"], enum: ["x", null] } }),
    );
  });

  it("has limits that are not enforced in its descriptions, such as a pattern with lookaround", () => {
    const email = { type: "string", format: "email" };
    expect(strict(object({ a: { ...email, pattern: "^(?!a)b$" }, b: { ...email, minLength: 1 } }))).toEqual(
      object({
        a: { ...email, description: '(pattern: "^(?!a)b$")' },
        b: { ...email, description: "(minLength: 1)" },
      }),
    );
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
    ["allOf", object({ a: { allOf: [{ type: "string" }] } })],
    ["not", object({ a: { type: "string", not: { const: "x" } } })],
    ["branches that overlap", object({ a: { oneOf: [{ type: "integer" }, { type: "number" }] } })],
    ["branches with the same constant", object({ a: { oneOf: [branch("a"), branch("a")] } })],
    ["oneOf beside anyOf", object({ a: { oneOf: [{ type: "string" }], anyOf: [{ type: "number" }] } })],
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

describe("a schema that a provider does not take as it is", () => {
  const tool = (schema: JsonObject, dialect: keyof typeof schemaDialects = "openAi"): JsonObject =>
    convertSchema(schema, schemaDialects[dialect]).schema;
  const text = { type: "string" };

  it("has the properties of each branch of a union at its root, and requires what all of them require", () => {
    const schema = {
      oneOf: [object({ kind: { const: "a" }, x: text }), object({ kind: { const: "b" }, y: text })],
    };
    expect(tool(schema)).toMatchObject({
      type: "object",
      properties: {
        kind: { anyOf: [{ const: "a" }, { const: "b" }] },
        x: text,
        y: text,
      },
      required: ["kind"],
      additionalProperties: false,
      description: expect.stringContaining("oneOf: ["),
    });
  });

  it("mentions which properties a union requires", () => {
    const either = [{ required: ["id"] }, { required: ["name"] }];
    expect(tool({ type: "object", properties: { id: text, name: text }, anyOf: either })).toEqual({
      type: "object",
      properties: { id: text, name: text },
      description: '(anyOf: [{"required":["id"]},{"required":["name"]}])',
    });
  });

  it("has all that allOf and references add up to", () => {
    const $defs = { base: { type: "object", properties: { id: text }, required: ["id"] } };
    const child = { allOf: [{ $ref: "#/$defs/base" }, { properties: { name: text } }] };
    expect(tool({ ...child, $defs })).toMatchObject({
      properties: { id: text, name: text },
      required: ["id"],
    });
    expect(tool({ type: "object", properties: { child }, $defs })).toMatchObject({
      properties: { child: { $ref: "#/$defs/root" } },
      $defs: { root: { type: "object", properties: { id: text, name: text }, required: ["id"] } },
    });
  });

  it("keeps the values of a record, and describes their keys", () => {
    const record = { type: "object", additionalProperties: text, propertyNames: { pattern: "^x" } };
    expect(tool({ type: "object", properties: { record } })).toMatchObject({
      properties: {
        record: { additionalProperties: text, description: '(propertyNames: {"pattern":"^x"})' },
      },
    });
  });

  it("has no property of its root whose name the provider refuses, but mentions it", () => {
    const schema = object({ "filter[id]": text, a: text });
    expect(tool(schema, "anthropicTool")).toEqual({
      type: "object",
      properties: { a: text },
      required: ["a"],
      additionalProperties: true,
      description: '("filter[id]": {"type":"string"})',
    });
  });

  it("has one type in each schema, and ends where it would contain itself", () => {
    const schema = object({ a: { type: ["string", "null"], minLength: 1 }, next: { $ref: "#" } });
    expect(tool(schema, "aiSdkTool")).toEqual(
      object({
        a: { anyOf: [{ type: "string", description: "(minLength: 1)" }, { type: "null" }] },
        next: {},
      }),
    );
  });

  it("has lists with items, and objects with properties", () => {
    const tuple = { type: "array", prefixItems: [text] };
    expect(
      tool({ type: "object", properties: { tuple, list: { type: "array" }, any: { type: "object" } } }),
    ).toEqual({
      type: "object",
      properties: {
        tuple: { type: "array", items: {}, description: '(prefixItems: [{"type":"string"}])' },
        list: { type: "array", items: {} },
        any: { type: "object", properties: {}, additionalProperties: true },
      },
    });
    expect(tool({ type: "object" })).toEqual({ type: "object", properties: {} });
  });

  it("ends for unions of unions, in the same way for every dialect", () => {
    const levels = Array.from({ length: 40 }, (_, level) => level);
    const defs = levels.map((level) => {
      const next = { $ref: `#/$defs/d${level + 1}` };
      return [
        `d${level}`,
        { anyOf: ["a", "b"].map((x) => ({ ...next, properties: { x: { const: `${x}${level}` } } })) },
      ];
    });
    const type = ["string", "object", "array", "null"];
    const nested = levels.reduce<JsonObject>((inner) => ({ type, anyOf: [inner] }), text);
    const schema = {
      $ref: "#/$defs/d0",
      properties: { nested },
      $defs: { ...Object.fromEntries(defs), d40: {} },
    };
    for (const dialect of Object.values(schemaDialects))
      expect(convertSchema(schema, dialect).schema).toMatchObject({ type: "object", properties: { x: {} } });
  });
});
