import { playHistory } from "@moora/testbed/refusals/play-history";
import fc from "fast-check";
import { expect, it } from "vitest";

it("no history stops a conversation for more than one loop, whichever kind of part a provider refuses, and nothing refused is sent again unchanged", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(), { minLength: 8, maxLength: 40, size: "max" }), async (choices) => {
      expect(await playHistory(choices)).toBeUndefined();
    }),
    { numRuns: 500 },
  );
});
