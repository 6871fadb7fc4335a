import { describe, expect, it } from "vitest";
import { withoutSurroundings } from "../../../../proofs/engines/surroundings.ts";
import { goldenPositions, goldenText } from "@moora/testbed/corpus/files";
import { foldedOf, positionsOf } from "@moora/testbed/corpus/positions";
import { recordings } from "@moora/testbed/corpus/recordings";

/** The proof of all engines takes all of them. */
const some = recordings.filter((_, index) => index % 10 === 0);

describe("without clocks, chance, locales and the network", () => {
  it.each(some)(
    "the golden log of $name folds to the same states, effects and requests (A03)",
    ({ name }) => {
      const text = goldenText(name);
      const { result, touched } = withoutSurroundings(() => positionsOf(text));
      expect(touched).toEqual([]);
      expect(result).toEqual(positionsOf(text));
      expect(result.map(foldedOf)).toEqual(goldenPositions(name));
    },
  );

  it("an access to one of them is found, also where the error is swallowed", () => {
    const swallowed = (ask: () => unknown): unknown => {
      try {
        return ask();
      } catch (error) {
        return error;
      }
    };
    const asked = [() => Date.now(), () => Math.random(), () => "a".localeCompare("b")];
    const { result, touched } = withoutSurroundings(() => asked.map(swallowed));
    expect(touched).toEqual(["Date", "random", "localeCompare"]);
    expect(result).toEqual(touched.map((name) => new Error(`${name} was asked for.`)));
  });

  it("they are back after that, and after an error", () => {
    expect(() =>
      withoutSurroundings(() => {
        throw new RangeError("It broke.");
      }),
    ).toThrow(RangeError);
    expect(typeof setTimeout).toBe("function");
    expect(Math.random()).toBeLessThan(1);
  });
});
