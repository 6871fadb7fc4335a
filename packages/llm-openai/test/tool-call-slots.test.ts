import type { LlmPart } from "@moora/llm";
import { describe, expect, it } from "vitest";
import { ToolCallSlots } from "../src/tool-call-slots.ts";

interface Piece {
  readonly index?: number;
  readonly id?: string;
  readonly name?: string;
  /** Some servers send an object. */
  readonly args?: string | object;
  readonly extra?: object;
}

/** The calls that are assembled from deltas. */
function assembled(...pieces: readonly Piece[]): readonly LlmPart[] | undefined {
  const slots = new ToolCallSlots();
  for (const { index, id, name, args, extra } of pieces) {
    const delta: unknown = { index, id, function: { name, arguments: args }, ...extra };
    // Servers deviate from the type of the SDK.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    slots.add(delta as Parameters<ToolCallSlots["add"]>[0]);
  }
  return slots.parts((name) => name);
}

const call = (id: string, name: string, made: string): LlmPart => ({
  type: "tool-call",
  id,
  name,
  arguments: made,
});

describe("deltas of tool calls (F10)", () => {
  it("belong to the call at their index, in any order, with gaps", () => {
    expect(
      assembled(
        { index: 5, id: "b", name: "two" },
        { index: 2, id: "a", name: "one", args: '{"a"' },
        { index: 5, args: '{"b":2}' },
        { index: 2, args: ":1}" },
      ),
    ).toEqual([call("b", "two", '{"b":2}'), call("a", "one", '{"a":1}')]);
  });

  it("may have the name once, repeatedly, empty or in parts", () => {
    expect(
      assembled(
        { index: 0, id: "a", name: "one" },
        { index: 0, name: "", args: '{"a":' },
        { index: 0, id: "a", name: "one", args: "1}" },
      ),
    ).toEqual([call("a", "one", '{"a":1}')]);
    expect(assembled({ index: 0, id: "a", name: "on" }, { index: 0, name: "e", args: "{}" })).toEqual([
      call("a", "one", "{}"),
    ]);
  });

  it("may have arguments before the name", () => {
    expect(assembled({ index: 0, args: '{"a":1}' }, { index: 0, id: "a", name: "one" })).toEqual([
      call("a", "one", '{"a":1}'),
    ]);
  });

  it("start another call with another id at the same index", () => {
    expect(
      assembled(
        { index: 0, id: "a", name: "one", args: '{"a":1}' },
        { index: 0, id: "b", name: "one", args: '{"b":' },
        { index: 0, args: "2}" },
      ),
    ).toEqual([call("a", "one", '{"a":1}'), call("b", "one", '{"b":2}')]);
  });

  it("start another call with a name after complete arguments", () => {
    expect(
      assembled({ index: 0, name: "one", args: '{"a":1}' }, { index: 0, name: "one", args: '{"b":2}' }),
    ).toEqual([call("", "one", '{"a":1}'), call("", "one", '{"b":2}')]);
  });

  it("belong to one call until its arguments are complete, also with another id in each delta", () => {
    const pieces = (name?: string): readonly Piece[] => [
      { index: 0, id: "a", name: "one", args: "{" },
      { index: 0, id: "b", ...(name === undefined ? {} : { name }), args: '"a":' },
      { index: 0, id: "c", ...(name === undefined ? {} : { name }), args: "1}" },
    ];
    for (const name of [undefined, "", "one"])
      expect(assembled(...pieces(name))).toEqual([call("a", "one", '{"a":1}')]);
    expect(
      assembled({ index: 0, id: "a", name: "one", args: "" }, { index: 0, id: "b", args: '{"a":1}' }),
    ).toEqual([call("a", "one", '{"a":1}')]);
    expect(assembled({ index: 0, id: "a", name: "one" }, { index: 0, id: "b", name: "two" })).toEqual([
      call("a", "one", "{}"),
      call("b", "two", "{}"),
    ]);
  });

  it("may have the arguments as an object", () => {
    expect(assembled({ index: 0, id: "a", name: "one", args: { a: [1, "x"] } })).toEqual([
      call("a", "one", '{"a":[1,"x"]}'),
    ]);
  });

  it("may have no index", () => {
    expect(
      assembled(
        { id: "a", name: "one", args: '{"a"' },
        { args: ":1}" },
        { id: "b", name: "two", args: "{" },
        { id: "a" },
        { args: "}" },
      ),
    ).toEqual([call("a", "one", '{"a":1}'), call("b", "two", "{}")]);
  });

  it("result in no calls if a call has no name", () => {
    expect(assembled({ index: 0, id: "a", args: "{}" })).toBeUndefined();
  });

  it("keep additional fields of the server", () => {
    const extra = { extra_content: { google: { thought_signature: "sig" } } };
    expect(assembled({ index: 0, id: "a", name: "one", args: "{}", extra })).toEqual([
      { ...call("a", "one", "{}"), raw: extra },
    ]);
  });

  it("result in an empty object without arguments", () => {
    expect(assembled({ index: 0, id: "a", name: "one" })).toEqual([call("a", "one", "{}")]);
  });
});
