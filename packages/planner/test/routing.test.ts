import type { JsonObject, LlmTool } from "@moora/llm";
import { describe, expect, it } from "vitest";
import { toolOf, plannedFor, shop } from "./plan.ts";

describe("unknown tools", () => {
  it.each([
    ["What's the weather like in New York today?", [["weather", { city: "New York" }]]],
    [
      "weather in Oslo and Paris",
      [
        ["weather", { city: "Oslo" }],
        ["weather", { city: "Paris" }],
      ],
    ],
    ['Weather for "Ny-\u00c5lesund"', [["weather", { city: "Ny-\u00c5lesund" }]]],
    [
      'Open a ticket titled "Printer on fire", urgent',
      [["create_ticket", { title: "Printer on fire", priority: "urgent" }]],
    ],
    [
      "create_ticket title: Printer priority=low seats=4",
      [["create_ticket", { title: "Printer", priority: "low", seats: 4 }]],
    ],
    [
      'Create a ticket with {"title": "x, y and z", "priority": "low"}',
      [["create_ticket", { title: "x, y and z", priority: "low" }]],
    ],
    [
      'Translate "good morning" to French',
      [["translate", { text: "good morning", target_language: "French" }]],
    ],
    ["show me the last 3 orders of Ada", [["list_orders", { customer: "Ada", limit: 3 }]]],
    ["refund order 7", [["refund_order", { order_id: "7" }]]],
    ["Refund 12.50 for order 7", [["refund_order", { order_id: "7", amount: 12.5 }]]],
    [
      "Book a refundable flight from Oslo to New York on 2027-01-02 with 2 seats",
      [["book_flight", { from: "Oslo", to: "New York", date: "2027-01-02", seats: 2, refundable: true }]],
    ],
    [
      "Book a flight to Rome from Bergen on 3 May 2027, not refundable",
      [["book_flight", { from: "Bergen", to: "Rome", date: "3 May 2027", refundable: false }]],
    ],
    ["Send an email to ada@example.org", [["send_email", { to: "ada@example.org" }]]],
    ["What is the average of 3, 4.5 and 1,000?", [["average", { values: [3, 4.5, 1000] }]]],
    [
      'Refund order 7 and translate "done" to German',
      [
        ["refund_order", { order_id: "7" }],
        ["translate", { text: "done", target_language: "German" }],
      ],
    ],
    [
      "- weather in Rome\n- refund order 9",
      [
        ["weather", { city: "Rome" }],
        ["refund_order", { order_id: "9" }],
      ],
    ],
  ])("%s", (text, calls) => {
    expect(plannedFor(text, shop)).toEqual(calls);
  });
});

describe("no values are invented", () => {
  it.each(["Tell me a joke", "hello", "What is the capital of Norway?", "", "???", "   ", "42"])(
    "%j matches no tool",
    (text) => {
      expect(plannedFor(text, shop)).toEqual([]);
    },
  );

  it.each([
    "book a flight",
    "refund an order",
    "refund the order of Ada",
    'open a ticket titled "x"',
    "send an email to Ada",
  ])("%s does not say enough", (text) => {
    expect(plannedFor(text, shop)).toEqual([]);
  });

  it("does not use a number outside of its limits", () => {
    expect(plannedFor("show the last 0 orders of Ada", shop)).toEqual([["list_orders", { customer: "Ada" }]]);
  });
});

const schemas = (properties: JsonObject, required: readonly string[]): readonly LlmTool[] => [
  toolOf("gadget", "Runs the gadget.", properties, required),
];

describe("schemas of all kinds", () => {
  it.each([
    ["gadget with mode fast", { mode: { enum: ["slow", "fast"] } }, { mode: "fast" }],
    ["gadget", { mode: { const: "only" } }, { mode: "only" }],
    ["gadget level 3", { level: { enum: [1, 2, 3] } }, { level: 3 }],
    ["gadget speed 5", { speed: { anyOf: [{ type: "null" }, { type: "number" }] } }, { speed: 5 }],
    ["gadget speed 5", { speed: { type: ["integer", "null"] } }, { speed: 5 }],
    ["gadget verbose", { verbose: { type: "boolean" } }, { verbose: true }],
    ["gadget without verbose", { verbose: { type: "boolean" } }, { verbose: false }],
    [
      "gadget for https://a.test/x",
      { target: { type: "string", format: "uri" } },
      { target: "https://a.test/x" },
    ],
    [
      "gadget on a/b.txt and c.txt",
      { files: { type: "array", items: { type: "string" } } },
      { files: ["a/b.txt", "c.txt"] },
    ],
    [
      "gadget name: Ada, age: 36",
      {
        person: {
          type: "object",
          properties: { name: { type: "string" }, age: { type: "integer" } },
          required: ["name"],
        },
      },
      { person: { name: "Ada", age: 36 } },
    ],
    ["gadget flag=true", { flag: {} }, { flag: true }],
    ["gadget code AB-12", { code: { type: "string", pattern: "^[A-Z]{2}-\\d\\d$" } }, { code: "AB-12" }],
  ])("%s", (text, properties, values) => {
    expect(plannedFor(text, schemas(properties, Object.keys(values)))).toEqual([["gadget", values]]);
  });

  it("follows a reference inside the schema", () => {
    const tool = {
      name: "gadget",
      description: "Runs the gadget.",
      schema: {
        type: "object",
        properties: { mode: { $ref: "#/$defs/Mode" } },
        required: ["mode"],
        $defs: { Mode: { enum: ["slow", "fast"] } },
      },
    } as const;
    expect(plannedFor("gadget, fast", [tool])).toEqual([["gadget", { mode: "fast" }]]);
  });

  it.each(["__proto__", "constructor", "toString", "hasOwnProperty", "$", "", "then"])(
    "fills an argument named %j like any other",
    (name) => {
      const before = Object.getOwnPropertyNames(Object.prototype);
      const tools = [
        toolOf("gadget", "Runs the gadget.", Object.fromEntries([[name, { type: "string" }]]), [name]),
      ];
      const [call] = plannedFor('gadget "x"', tools);
      expect(call?.[0]).toBe("gadget");
      expect(Object.entries(call?.[1] ?? {})).toEqual([[name, "x"]]);
      expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
    },
  );

  it.each([
    {},
    { type: "object", properties: null },
    { type: "object", properties: { x: null }, required: "x" },
    { type: "object", properties: { x: { $ref: "#/$defs/none" } }, required: ["x"] },
    { type: "object", properties: { x: { type: "string", pattern: "(" } }, required: ["x"] },
    { type: "object", properties: { x: { anyOf: "no" } } },
    { type: "object", properties: { x: { enum: [] } }, required: ["x"] },
  ])("an unusable schema does no harm: %j", (schema) => {
    const tools = [{ name: "gadget", description: "", schema }];
    expect(() => plannedFor('gadget "x"', tools)).not.toThrow();
  });
});
