import { describe, expect, it } from "vitest";
import { parseInput, parseState } from "../src/index.ts";
import { maxJsonDepth, parseStoredInput } from "../src/internal.ts";

const message = { type: "user-message-received", messageId: "m", content: "q", timestamp: 1 };
const configured = (config: unknown) => ({ type: "agent-configured", config, timestamp: 1 });

/** An array in an array, and so on: so many of them. */
const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
};

/** What stands between the whole of such an input and its `deep` field. */
const levelsAbove = 3;
const deepAnswer = (depth: number) => ({
  type: "re-act-observed",
  calledLlmAt: 1,
  timestamp: 1,
  observation: { type: "complete-re-act" },
  turn: { origin: "", parts: [], raw: { deep: nested(depth) } },
});

describe("an input that was read from a log", () => {
  it.each<[string, unknown]>([
    ["a message", message],
    ["a number with a fraction, true, null and a list", deepAnswer(1)],
    ["one that is as deep as may be", deepAnswer(maxJsonDepth - levelsAbove)],
  ])("is taken as it is: %s", (_, value) => {
    expect(parseStoredInput(value)).toEqual(parseInput(value));
    expect(parseStoredInput(value).ok).toBe(true);
  });

  it.each<[string, unknown, string]>([
    ["a lone surrogate", { ...message, content: "\ud800" }, "ill-formed-string"],
    ["a lone surrogate in a key", configured({ "\ud800": 1 }), "ill-formed-string"],
    ["-0", { ...message, timestamp: -0 }, "not-json"],
    ["a number that is not finite", { ...message, timestamp: Number.NaN }, "not-json"],
    ["a key that would change a prototype", configured(JSON.parse('{"__proto__":1}')), "hostile-key"],
    ["more depth than may be", deepAnswer(maxJsonDepth), "too-deep"],
    ["an unknown type", { type: "later" }, "unknown-type"],
    ["no object", true, "unknown-type"],
    ["a field of another shape", { ...message, content: 7 }, "wrong-shape"],
  ])("is refused as from outside: %s", (_, value, code) => {
    const parsed = parseStoredInput(value);
    expect(parsed).toEqual(parseInput(value));
    expect(parsed.ok ? "" : parsed.problem.code).toBe(code);
  });
});

describe("a state that was stored", () => {
  it("is refused where JSON does not keep it, with the place", () => {
    expect(parseState({ version: 1, messages: [undefined] })).toMatchObject({
      ok: false,
      problem: { code: "not-a-state", path: "messages[0]" },
    });
  });
});
