import { applyPatches, type DataPatch, type Json } from "@moora/agent-core-state-machine";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { defineData } from "../../src/index.ts";

const anything = defineData({ schema: z.record(z.string(), z.unknown()), initial: {} });

const key = fc.constantFrom("a", "b", "a/b", "~c", "", "0");
const json: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json>(null, true, 1, "text"),
    fc.array(tie("json"), { maxLength: 3 }),
    fc.dictionary(key, tie("json"), { maxKeys: 3 }),
  ),
})).json;

type Fields = { [key: string]: unknown };

/** Operations on a draft, each at a place that a list of numbers leads to. */
const operation = fc.record({
  path: fc.array(fc.nat(5), { maxLength: 3 }),
  kind: fc.constantFrom("set", "delete", "push", "splice", "shift"),
  key,
  value: json,
});

type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;

function applyOperation(draft: Fields, { path, kind, key: name, value }: Operation): void {
  let place: unknown = draft;
  for (const step of path) {
    const children: unknown[] = Object.values(place ?? {}).filter(
      (child) => typeof child === "object" && child !== null,
    );
    if (children.length === 0) break;
    place = children[step % children.length];
  }
  if (Array.isArray(place)) {
    if (kind === "splice") place.splice(0, 1, structuredClone(value), structuredClone(value));
    else if (kind === "shift") place.shift();
    else place.push(structuredClone(value));
  } else if (typeof place === "object" && place !== null) {
    if (kind === "delete") Reflect.deleteProperty(place, name);
    else Reflect.set(place, name, structuredClone(value));
  }
}

describe("patches of application data", () => {
  it("lead to what the recipe made, and leave the data before as it was", () => {
    fc.assert(
      fc.property(fc.dictionary(key, json), fc.array(operation, { maxLength: 6 }), (before, operations) => {
        const copy = structuredClone(before);
        const { data, patches } = anything.change(before, (draft) => {
          for (const each of operations) applyOperation(draft, each);
        });
        expect(applyPatches(before, patches)).toEqual(data);
        expect(before).toEqual(copy);
      }),
    );
  });

  it("share what they do not change", () => {
    const before = { changed: { n: 1 }, same: { n: 1 } };
    const after = applyPatches(before, [{ op: "replace", path: "/changed/n", value: 2 }]);
    expect(after).toEqual({ changed: { n: 2 }, same: { n: 1 } });
    expect(after).toMatchObject({ same: before.same });
    expect(Reflect.get(Object(after), "same")).toBe(before.same);
  });

  it("do not change a value of an earlier patch", () => {
    const value = { n: 1 };
    const patches: readonly DataPatch[] = [
      { op: "add", path: "/a", value },
      { op: "replace", path: "/a/n", value: 2 },
    ];
    expect(applyPatches({}, patches)).toEqual({ a: { n: 2 } });
    expect(value).toEqual({ n: 1 });
  });

  const deep = (levels: number): Json => (levels === 0 ? 1 : { a: deep(levels - 1) });

  it.each<[string, DataPatch]>([
    ["a field that does not exist", { op: "replace", path: "/none", value: 1 }],
    ["the removal of a field that does not exist", { op: "remove", path: "/none" }],
    ["a parent that does not exist", { op: "add", path: "/none/x", value: 1 }],
    ["a parent that is a text", { op: "add", path: "/text/x", value: 1 }],
    ["an index behind the end", { op: "add", path: "/list/3", value: 1 }],
    ["the replacement of an item behind the last", { op: "replace", path: "/list/2", value: 1 }],
    ["a negative index", { op: "remove", path: "/list/-1" }],
    ["an index with a leading zero", { op: "remove", path: "/list/01" }],
    ["the replacement of -", { op: "replace", path: "/list/-", value: 1 }],
    ["a path without a slash", { op: "add", path: "x", value: 1 }],
    ["the removal of the whole", { op: "remove", path: "" }],
    ["a prototype", { op: "add", path: "/__proto__/x", value: 1 }],
    ["a field of the prototype", { op: "add", path: "/constructor/x", value: 1 }],
    ["too many levels", { op: "add", path: "/x", value: deep(100) }],
  ])("do not fit for %s", (_, patch) =>
    expect(applyPatches({ list: [1, 2], text: "t" }, [{ op: "add", path: "/new", value: 1 }, patch])).toBe(
      undefined,
    ),
  );
});
