import { describe, expect, it } from "vitest";
import { answerFormOf, entriesToAnswer, initialEntries } from "../src/components/answer-form.ts";

const formOf = (schema: object) => answerFormOf(JSON.stringify(schema));

describe("the form of an answer", () => {
  it.each([
    [{ type: "string" }, "text", "30", "30"],
    [{ type: "number" }, "number", "12.5", 12.5],
    [{ type: "number" }, "number", " -1.5e3 ", -1500],
    [{ type: "integer" }, "integer", "-3", -3],
    [{ type: "integer" }, "integer", "12.0", 12],
    [{ type: "boolean" }, "boolean", "false", false],
    [{ enum: ["red", 2, null] }, "choice", "1", 2],
    [{ const: "yes" }, "choice", "0", "yes"],
    [{ oneOf: [{ const: 1, title: "one" }, { const: 2 }] }, "choice", "1", 2],
    [{ type: "array" }, "json", "[1]", [1]],
    [{ type: "object" }, "json", '{"a":1}', { a: 1 }],
    [{}, "json", '"text"', "text"],
  ] as const)("%j has one field", (schema, kind, entered, answer) => {
    const form = formOf(schema);
    expect(form.fields.map((field) => field.kind)).toEqual([kind]);
    expect(entriesToAnswer(form, { "": entered })).toEqual({ ok: true, answer });
  });

  it("is a text without a schema, and JSON for one that is not readable", () => {
    expect(answerFormOf(undefined).fields[0]?.kind).toBe("text");
    expect(answerFormOf("{").fields[0]?.kind).toBe("json");
  });

  it("of an object has a field for each property, with titles and defaults; what is optional and empty is left out", () => {
    const form = formOf({
      type: "object",
      properties: {
        name: { type: "string", title: "Your name", description: "As in your passport" },
        age: { type: "integer" },
        color: { enum: ["red", "blue"], default: "blue" },
        tags: { type: "array", default: [] },
        note: { type: "string" },
      },
      required: ["name", "age"],
    });
    expect(form.fields.map(({ title, kind }) => `${title}: ${kind}`)).toEqual([
      "Your name: text",
      "age: integer",
      "color: choice",
      "tags: json",
      "note: text",
    ]);
    const entries = { ...initialEntries(form), name: "", age: "42" };
    expect(entriesToAnswer(form, entries)).toEqual({
      ok: true,
      answer: { name: "", age: 42, color: "blue", tags: [] },
    });
    expect(entriesToAnswer(form, { ...entries, age: "" })).toMatchObject({
      ok: false,
      field: "age",
      title: "age",
    });
  });

  it("keeps a property with the name of one of an object's prototype", () => {
    const form = formOf({ type: "object", properties: JSON.parse('{"__proto__":{"type":"string"}}') });
    const entered = entriesToAnswer(form, Object.fromEntries([["__proto__", "x"]]));
    expect(JSON.stringify(entered)).toBe('{"ok":true,"answer":{"__proto__":"x"}}');
  });

  it.each([
    [{ type: "number" }, "", "Enter a number"],
    [{ type: "number" }, "twelve", "Enter a number"],
    [{ type: "number" }, "0x10", "Enter a number, such as 12.5."],
    [{ type: "number" }, "1e999", "Enter a number"],
    [{ type: "integer" }, "", "Enter a whole number, such as 12."],
    [{ type: "integer" }, "x7", "Enter a whole number"],
    [{ type: "integer" }, "12.5", "Enter a whole number"],
    [{ type: "integer" }, "0x10", "Enter a whole number"],
    [{ type: "boolean" }, "", "Choose yes or no"],
    [{ enum: ["a"] }, "", "Choose one"],
    [{ enum: ["a"] }, "7", "Choose one"],
    [{ type: "array" }, "[1", "not JSON"],
  ] as const)("%j refuses %j with what to do", (schema, entered, problem) => {
    expect(entriesToAnswer(formOf(schema), { "": entered })).toEqual({
      ok: false,
      field: "",
      title: "",
      problem: expect.stringContaining(problem),
    });
  });
});
