import { describe, expect, it } from "vitest";
import { createMoorex, type MoorexNotice } from "../src/index.ts";

const wrong: readonly (readonly [name: string, result: unknown, found: string])[] = [
  ["null", null, "null"],
  ["a number", 7, "7"],
  ["a string", "stored", "stored"],
  ["an object of another form", {}, "[object Object]"],
  ["no inputs of others", { before: null }, "null"],
  ["an entry of others that is null", { before: [null] }, ""],
  ["an entry of others without an input", { before: [{}] }, "[object Object]"],
];

describe.each(["at once", "later"])("I5: a commit that returns %s", (when) => {
  it.each(wrong)(
    "%s has failed: the dispatch rejects, and the machine continues",
    async (_name, result, found) => {
      const notices: MoorexNotice<number, number, never>[] = [];
      let isWrong = true;
      const moorex = createMoorex<number, number, never>({
        initial: () => 0,
        transition: (input) => (sum) => sum + input,
        effectsAt: () => ({}),
        runEffect: () => ({ start: () => Promise.resolve() }),
        commit: () => {
          if (!isWrong) return undefined;
          isWrong = false;
          // What a program without types may return.
          const returned = JSON.parse(JSON.stringify(result));
          return when === "later" ? Promise.resolve(returned) : returned;
        },
        onNotice: (notice) => void notices.push(notice),
      });
      const refused = moorex.dispatch(1, 2);
      await expect(refused).rejects.toThrow(`commit must return { before } or undefined, got ${found}.`);
      const error = await refused.catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(TypeError);
      expect(notices).toEqual([{ type: "error-caught", source: "commit", error }]);
      await moorex.settled();
      expect(await moorex.dispatch(3)).toEqual({ applied: 1, state: 3 });
    },
  );

  it("an empty list of inputs of others has stored the steps", async () => {
    const result = { before: [] };
    const moorex = createMoorex<number, number, never>({
      initial: () => 0,
      transition: (input) => (sum) => sum + input,
      effectsAt: () => ({}),
      runEffect: () => ({ start: () => Promise.resolve() }),
      commit: () => (when === "later" ? Promise.resolve(result) : result),
    });
    expect(await moorex.dispatch(3)).toEqual({ applied: 1, state: 3 });
  });
});
