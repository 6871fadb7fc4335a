import type { JsonObject } from "@moora/llm";
import { expect, it } from "vitest";
import { BuildError, defineData, defineTool } from "../../src/index.ts";

const toolOf = (properties: JsonObject, more: JsonObject = {}) =>
  defineTool({
    name: "go",
    description: "Goes.",
    input: { type: "object", properties, ...more },
    execute: () => "ok",
  });

it.each<[string, JsonObject, JsonObject, string]>([
  [
    "the name of a type as a schema",
    { city: "string" },
    {},
    'properties.city must be a schema such as { type: "string" }, got "string".',
  ],
  [
    "null as a schema",
    { city: null },
    {},
    'properties.city must be a schema such as { type: "string" }, got null.',
  ],
  [
    "a misspelled type",
    { city: { type: "strng" } },
    {},
    'properties.city.type must be one of object, array, string, number, integer, boolean, null, got "strng".',
  ],
  [
    "a misspelled type among others, in a list",
    { a: { type: "array", items: { type: ["string", "nul"] } } },
    {},
    'properties.a.items.type must be one of object, array, string, number, integer, boolean, null, got "nul".',
  ],
  ["one name as required", {}, { required: "city" }, 'required must be a list of strings, got "city".'],
  [
    "required in a property",
    { city: { required: true } },
    {},
    "properties.city.required must be a list of strings, got true.",
  ],
  ["one value as enum", { city: { enum: "Oslo" } }, {}, 'properties.city.enum must be a list, got "Oslo".'],
  [
    "one schema as anyOf",
    { city: { anyOf: {} } },
    {},
    "properties.city.anyOf must be a list of schemas, got an object.",
  ],
  ["a text as a limit", { n: { minimum: "1" } }, {}, 'properties.n.minimum must be a number, got "1".'],
  [
    "a negative length",
    { n: { maxLength: -1 } },
    {},
    "properties.n.maxLength must be a number of 0 or more, got -1.",
  ],
  [
    "a broken expression",
    { n: { pattern: "(" } },
    {},
    'properties.n.pattern must be a regular expression, got "(".',
  ],
  [
    "a reference to nothing",
    { n: { $ref: "#/$defs/nope" } },
    {},
    'properties.n.$ref is "#/$defs/nope", which is not in the schema.',
  ],
  [
    "a reference to another document",
    { n: { $ref: "https://schemas.test/n.json" } },
    {},
    'properties.n.$ref is "https://schemas.test/n.json", which is not in the schema.',
  ],
  [
    "a reference to a name that no part has",
    { n: { $ref: "#n" } },
    {},
    'properties.n.$ref is "#n", which is not in the schema.',
  ],
])("a JSON Schema with %s is refused, with the path", (_, properties, more, message) => {
  expect(() => toolOf(properties, more)).toThrow(
    new BuildError(`The input of the tool go has a mistake: ${message}`),
  );
});

it("a JSON Schema that nests without end is refused", () => {
  let nested: JsonObject = { type: "string" };
  for (let depth = 0; depth < 300; depth += 1) nested = { not: nested };
  expect(() => toolOf({ n: nested })).toThrow(
    "The input of the tool go has a mistake: it has more than 200 levels.",
  );
});

it("a JSON Schema may use every keyword in its own form", () => {
  const city = { type: ["string", "null"], enum: ["Oslo", null], minLength: 0, pattern: "^O" };
  const rest = {
    $defs: {
      "a/b": { type: "integer", minimum: -3 },
      named: { $anchor: "n" },
      other: { $id: "https://schemas.test/o.json" },
    },
    required: ["city"],
    additionalProperties: false,
    "x-own": { type: "anything" },
  };
  const fine = () =>
    toolOf(
      {
        city,
        ref: { $ref: "#/$defs/a~1b" },
        anchor: { $ref: "#n" },
        id: { $ref: "https://schemas.test/o.json" },
        any: true,
        list: { items: [{}], contains: { const: 1 } },
      },
      rest,
    );
  expect(fine).not.toThrow();
});

it("the schema of data is checked, too", () => {
  const schema = { type: "object", properties: ["items"] } as const;
  expect(() => defineData({ schema, initial: {} })).toThrow(
    "The schema of defineData has a mistake: properties must be an object of schemas, got an array.",
  );
});
