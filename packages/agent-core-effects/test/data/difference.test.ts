import { applyPatches, type DataPatch, type Json } from "@moora/agent-core-state-machine";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "@moora/llm";
import * as v from "valibot";
import * as z from "zod";
import * as mini from "zod/mini";
import { defineData, type DataOptions, type StandardSchema } from "../../src/index.ts";

type Item = {
  id: number;
  text: string;
};

const list = defineData({
  schema: z.object({ items: z.array(z.object({ id: z.number(), text: z.string() })) }),
  initial: { items: [] },
});

const items = (count: number): Item[] =>
  Array.from({ length: count }, (_, id) => ({ id, text: `item ${id}` }));

const patchesOf = (
  before: readonly Item[],
  recipe: (draft: { items: Item[] }) => void,
): readonly DataPatch[] => list.change({ items: [...before] }, recipe).patches;

/** Functions that change a list. All of them also work on a list that is not a draft. */
const operation = fc.oneof(
  ...[
    "push",
    "pop",
    "shift",
    "unshift",
    "splice",
    "reverse",
    "sort",
    "edit",
    "replace",
    "drop",
    "copy",
    "clear",
  ].map((kind) =>
    fc.record({ kind: fc.constant(kind), at: fc.nat(60), text: fc.constantFrom("", "a", "b", "c") }),
  ),
);

type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;

function apply(draft: { items: Item[] }, { kind, at, text }: Operation): void {
  const index = draft.items.length === 0 ? 0 : at % draft.items.length;
  const item = draft.items[index];
  if (kind === "push") draft.items.push({ id: at, text });
  else if (kind === "pop") draft.items.pop();
  else if (kind === "shift") draft.items.shift();
  else if (kind === "unshift") draft.items.unshift({ id: at, text });
  else if (kind === "splice") draft.items.splice(index, at % 3, { id: at, text }, { id: at, text });
  else if (kind === "reverse") draft.items.reverse();
  else if (kind === "sort") draft.items.sort((a, b) => a.text.localeCompare(b.text));
  else if (kind === "replace") draft.items[index] = { id: at, text };
  else if (kind === "drop") draft.items = draft.items.filter((_, each) => each !== index);
  else if (kind === "clear" && at > 50) draft.items = [];
  else if (kind === "edit" && item !== undefined) item.text = text;
  else if (kind === "copy" && item !== undefined) draft.items.push({ ...item });
}

describe("the patches of a recipe", () => {
  it("make what the recipe makes of data that is not a draft", () => {
    fc.assert(
      fc.property(fc.nat(40), fc.array(operation, { maxLength: 12 }), (count, operations) => {
        const recipe = (draft: { items: Item[] }): void => {
          for (const each of operations) apply(draft, each);
        };
        const plain = { items: items(count) };
        recipe(plain);
        const before: Json = { items: items(count) };
        const { data, patches } = list.change(before, recipe);
        expect(data).toEqual(plain);
        expect(applyPatches(before, patches)).toEqual(plain);
        expect(applyPatches(before, structuredClone(patches))).toEqual(plain);
      }),
    );
  });

  it.each<[string, (draft: { items: Item[] }) => void, readonly DataPatch[]]>([
    [
      "one field of an item",
      (draft) => void Object.assign(Object(draft.items[500]), { text: "x" }),
      [{ op: "replace", path: "/items/500/text", value: "x" }],
    ],
    [
      "one item, also in a new list",
      (draft) => void (draft.items = draft.items.filter(({ id }) => id !== 7)),
      [{ op: "remove", path: "/items/7" }],
    ],
    [
      "the items of a queue",
      (draft) => void draft.items.push(...draft.items.splice(0, 1)),
      [
        { op: "remove", path: "/items/0" },
        { op: "add", path: "/items/999", value: { id: 0, text: "item 0" } },
      ],
    ],
    ["all items", (draft) => void (draft.items = []), [{ op: "replace", path: "/items", value: [] }]],
    [
      "nothing, but a copy of an item",
      (draft) => void draft.items.splice(3, 1, { id: 3, text: "item 3" }),
      [],
    ],
  ])("contain what it has changed of 1,000 items: %s", (_, recipe, patches) =>
    expect(patchesOf(items(1_000), recipe)).toEqual(patches),
  );

  it("are one patch for a list in another order", () => {
    const patches = patchesOf(items(1_000), (draft) => void (draft.items = draft.items.toReversed()));
    expect(patches).toMatchObject([{ op: "replace", path: "/items" }]);
  });

  it.each<[string, (draft: { items: unknown[] }) => void, string]>([
    ["-0 where 0 was", (draft) => void (draft.items = [-0, 1]), "JSON does not keep -0"],
    ["a hole", (draft) => void (draft.items[5] = 1), "JSON does not keep a value of type undefined"],
    [
      "a further key of an array",
      (draft) => void Object.assign(draft.items, { "-1": 1 }),
      "items.-1: JSON keeps only the items of an array.",
    ],
    [
      "a further key of an array whose items change, too",
      (draft) => void Object.assign(draft.items, { "-1": 1 }).push(3),
      "items.-1: JSON keeps only the items of an array.",
    ],
    [
      "a further key of a new array",
      (draft) => void (draft.items[1] = Object.assign([1], { extra: 1 })),
      "items[1].extra: JSON keeps only the items of an array.",
    ],
    [
      "a symbol as key of an array",
      (draft) => void (draft.items[1] = Object.assign([1], { [Symbol("s")]: 1 })),
      "items[1].Symbol(s): JSON keeps only the items of an array.",
    ],
    ["a very long hole", (draft) => void (draft.items.length = 4_000_000_000), "keys and items in all"],
    [
      "a key that is the prototype",
      (draft) => void (draft.items[1] = JSON.parse('{"a":1,"__proto__":2}')),
      "prototype",
    ],
    ["a symbol", (draft) => void Object.assign(draft, { [Symbol("s")]: 1 }), "symbol"],
  ])("are refused for %s", (_, recipe, message) => {
    const any = defineData({ schema: { type: "object" }, initial: {} });
    const before = { items: [0, { a: { b: 1 } }, 2] };
    expect(() => any.change(before, (draft) => recipe(Object(draft)))).toThrow(message);
  });

  it("are refused for a further key of a long array in which nothing else changes", () => {
    const change = (draft: unknown): void =>
      void Object.assign(Reflect.get(Object(draft), "items"), { "-1": 1 });
    expect(() => list.change({ items: items(2_000) }, change)).toThrow("items.-1: JSON keeps only the items");
  });
});

describe("the path in a refusal", () => {
  const schemas: readonly (readonly [string, DataOptions<StandardSchema | JsonObject>["schema"]])[] = [
    ["zod", z.object({ items: z.array(z.object({ n: z.number() })) })],
    ["zod/mini", mini.object({ items: mini.array(mini.object({ n: mini.number() })) })],
    ["valibot", v.object({ items: v.array(v.object({ n: v.number() })) })],
    [
      "a JSON Schema",
      {
        type: "object",
        properties: {
          items: { type: "array", items: { type: "object", properties: { n: { type: "number" } } } },
        },
      },
    ],
  ];
  it.each(schemas)("has one form, by the schema as for what is not JSON: %s", (_, schema) => {
    const data = defineData({ schema, initial: { items: [{ n: 1 }] } });
    const put = (n: unknown) => (draft: unknown) =>
      void Object.assign(Reflect.get(Object(draft), "items")[0], { n });
    const before = { items: [{ n: 1 }] };
    expect(() => data.change(before, put("text"))).toThrow(/refused: items\[0\]\.n: /);
    expect(() => data.change(before, put(Infinity))).toThrow(/refused: items\[0\]\.n: /);
    expect(() => data.change(before, put([1, undefined]))).toThrow(/refused: items\[0\]\.n\[1\]: /);
  });
});

describe("the schema of application data", () => {
  it("checks the whole after each change", () => {
    let checks = 0;
    const schema = z.object({ items: z.array(z.number().refine(() => (checks += 1) > 0)) });
    const data = defineData({ schema, initial: { items: [1, 2, 3] } });
    const before = checks;
    data.change(data.initial, (draft) => void (draft.items[1] = -1));
    expect(checks - before).toBe(3);
  });

  it("may be one of zod/mini, with a JSON Schema beside it", () => {
    const schema = mini.object({ count: mini.number() });
    const data = defineData({ schema, initial: { count: 1 }, jsonSchema: { type: "object" } });
    expect(data.change({ count: 1 }, (draft) => void (draft.count = 2)).data).toEqual({ count: 2 });
  });

  it("is not asked where the data is larger than its limits", () => {
    const data = defineData({ schema: z.record(z.string(), z.unknown()), initial: {} });
    const many = Array.from({ length: 49_000 }, (_, index) => index);
    const add = (before: Json, key: string) => data.change(before, (draft) => void (draft[key] = many)).data;
    const two = add(add({}, "a"), "b");
    expect(() => add(two, "c")).toThrow("More than 100000 keys and items in all.");
    const one = data.change(two, (draft) => void delete draft["a"]).data;
    expect(Object.keys(Object(add(one, "c")))).toEqual(["b", "c"]);
    expect(() => data.change(one, (draft) => void (draft["text"] = "x".repeat(16_000_000)))).toThrow(
      "characters in all",
    );
  });
});
