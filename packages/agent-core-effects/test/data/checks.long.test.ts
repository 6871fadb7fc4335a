import type { Json } from "@moora/agent-core-state-machine";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import * as mini from "zod/mini";
import { DataRefused, defineData, type DataOptions, type StandardSchema } from "../../src/index.ts";

type Schema = DataOptions<StandardSchema>["schema"];

/** What a change makes of data: the data, or the message that refuses it. */
function outcomeOf(
  schema: Schema,
  initial: Json,
  changes: readonly ((draft: unknown) => void)[],
  isWarm: boolean,
) {
  const options = { schema, initial };
  const warm = defineData(options);
  let data: Json = initial;
  return changes.map((change) => {
    // A definition that has not seen the data checks all of it.
    const definition = isWarm ? warm : defineData(options);
    try {
      data = definition.change(isWarm ? data : structuredClone(data), change).data;
      return data;
    } catch (error) {
      if (!(error instanceof DataRefused)) throw error;
      return error.message;
    }
  });
}

interface Tree {
  value: number;
  children?: Tree[] | undefined;
}
const tree: z.ZodType<Tree> = z.lazy(() =>
  z.object({ value: z.number().max(5), children: z.array(tree).max(3).optional() }),
);
const fields = {
  items: z
    .array(z.object({ n: z.number().max(5), text: z.string().optional() }))
    .min(1)
    .max(4),
  byId: z.record(z.string().max(2), z.number().nonnegative()),
  either: z.discriminatedUnion("type", [
    z.object({ type: z.literal("a"), n: z.number() }),
    z.object({ type: z.literal("b"), text: z.string() }),
  ]),
  note: z.string().nullable().optional(),
  pair: z.tuple([z.number(), z.string()]),
  tree,
};
const initial: Json = {
  items: [{ n: 1 }, { n: 2, text: "x" }],
  byId: { a: 1, b: 2 },
  either: { type: "a", n: 1 },
  pair: [1, "x"],
  tree: { value: 1, children: [{ value: 2 }] },
};

const schemas: readonly (readonly [string, Schema, Json])[] = [
  ["an object", z.object(fields), initial],
  ["a strict object", z.strictObject(fields), initial],
  ["a loose object", z.looseObject(fields), initial],
  [
    "an object with a refinement",
    z.object(fields).refine(({ items }) => items[0]?.n !== 3, "Not 3 first."),
    initial,
  ],
  [
    "a refinement of a part",
    z.object({ ...fields, items: fields.items.refine((all) => all.length !== 3) }),
    initial,
  ],
  ["keys of a list", z.object({ ...fields, byId: z.record(z.enum(["a", "b"]), z.number()) }), initial],
  ["a schema that converts", z.object({ ...fields, byId: z.record(z.string(), z.coerce.number()) }), initial],
  [
    "a schema of mini",
    mini.object({
      items: mini
        .array(mini.object({ n: mini.number().check(mini.maximum(5)), text: mini.optional(mini.string()) }))
        .check(mini.maxLength(4)),
      byId: mini.record(mini.string(), mini.number()),
    }),
    { items: [{ n: 1 }], byId: {} },
  ],
  [
    "a JSON Schema",
    {
      type: "object",
      properties: {
        items: {
          type: "array",
          minItems: 1,
          maxItems: 4,
          items: { type: "object", properties: { n: { type: "number", maximum: 5 } }, required: ["n"] },
        },
        byId: { type: "object", additionalProperties: { type: "number" } },
        either: { anyOf: [{ required: ["n"] }, { required: ["text"] }] },
        pair: { prefixItems: [{ type: "number" }, { type: "string" }] },
      },
      required: ["items", "pair"],
      additionalProperties: true,
    } as never,
    initial,
  ],
  [
    "a JSON Schema with references",
    {
      type: "object",
      properties: { items: { type: "array", items: { $ref: "#/$defs/item" } } },
      $defs: { item: { type: "object", properties: { n: { maximum: 5 } } } },
    } as never,
    initial,
  ],
];

const place = fc.array(
  fc.constantFrom(
    "items",
    "byId",
    "either",
    "note",
    "pair",
    "tree",
    "children",
    "value",
    "n",
    "text",
    "type",
    "a",
    "long",
    "0",
    "1",
    "2",
  ),
  { minLength: 1, maxLength: 4 },
);
const value = fc.constantFrom<unknown>(
  1,
  3,
  9,
  -1,
  "x",
  null,
  [],
  {},
  { n: 3 },
  { n: 9 },
  { value: 2 },
  { type: "b", text: "t" },
);
const change = fc.record({ place, value, kind: fc.constantFrom("set", "delete", "push", "shift") });

const recipeOf =
  ({ place: keys, value: given, kind }: { place: readonly string[]; value: unknown; kind: string }) =>
  (draft: unknown): void => {
    let within = draft;
    const last = keys.at(-1) ?? "";
    for (const key of keys.slice(0, -1)) {
      const next: unknown = Object.hasOwn(Object(within), key) ? Reflect.get(Object(within), key) : undefined;
      if (typeof next !== "object" || next === null) break;
      within = next;
    }
    if (Array.isArray(within)) {
      if (kind === "push") within.push(structuredClone(given));
      else if (kind === "shift") within.shift();
      else if (within.length > 0) within[0] = structuredClone(given);
    } else if (kind === "delete") Reflect.deleteProperty(Object(within), last);
    else Reflect.set(Object(within), last, structuredClone(given));
  };

describe("what a change has changed is checked", () => {
  it.each(schemas)("and refused as the whole would be: %s", (_, schema, start) => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 8 }), (changes) => {
        const recipes = changes.map(recipeOf);
        expect(outcomeOf(schema, start, recipes, true)).toEqual(outcomeOf(schema, start, recipes, false));
      }),
    );
  });

  const counted = () => {
    let checks = 0;
    const item = z.number().refine(() => (checks += 1) > 0);
    return { item, count: () => checks };
  };
  const numbers = Array.from({ length: 1_000 }, (_, index) => index);

  it("and nothing else, once the whole is known to fit", () => {
    const { item, count } = counted();
    const data = defineData({
      schema: z.object({ items: z.array(item).max(2_000) }),
      initial: { items: [] },
    });
    const first = data.change({ items: numbers }, (draft) => void (draft.items[1] = -1));
    const before = count();
    const second = data.change(first.data, (draft) => void (draft.items[500] = -1));
    data.change(second.data, (draft) => void draft.items.push(7));
    expect(count() - before).toBe(2);
  });

  it("with the whole where a refinement looks at the whole", () => {
    const { item, count } = counted();
    const schema = z
      .object({ items: z.array(item) })
      .refine(({ items }) => !items.includes(13_000), "Not 13,000.");
    const data = defineData({ schema, initial: { items: [] } });
    const { data: first } = data.change({ items: numbers }, (draft) => void (draft.items[1] = -1));
    const before = count();
    data.change(first, (draft) => void (draft.items[500] = -1));
    expect(count() - before).toBe(1_000);
    expect(() => data.change(first, (draft) => void (draft.items[500] = 13_000))).toThrow("Not 13,000.");
  });

  it("and the limits count all that is there", () => {
    const data = defineData({ schema: z.record(z.string(), z.unknown()), initial: {} });
    const many = Array.from({ length: 49_000 }, (_, index) => index);
    const add = (before: Json, key: string) => data.change(before, (draft) => void (draft[key] = many)).data;
    const two = add(add({}, "a"), "b");
    expect(() => add(two, "c")).toThrow("More than 100000 keys and items in all.");
    const one = data.change(two, (draft) => void delete draft["a"]).data;
    expect(Object.keys(Object(add(one, "c")))).toEqual(["b", "c"]);
    const long = data.change(one, (draft) => void (draft["text"] = "x".repeat(15_999_990))).data;
    expect(() => data.change(long, (draft) => void (draft["more"] = "12345678"))).toThrow(
      "characters in all",
    );
  });
});

describe("a schema of zod/mini", () => {
  const schema = mini.object({ count: mini.number() });

  it("may be given with a JSON Schema", () => {
    const data = defineData({ schema, initial: { count: 1 }, jsonSchema: { type: "object" } });
    expect(data.change({ count: 1 }, (draft) => void (draft.count = 2)).data).toEqual({ count: 2 });
  });
});
