/** Conversations whose provider refuses one kind of part: none stops for more than one loop, and nothing refused is sent again unchanged. */
import { playHistory } from "@moora/testbed/refusals/play-history";
import { prove } from "./parts/in-chunks.ts";

await prove({
  name: "refused histories",
  file: import.meta.filename,
  goal: 100_000,
  chunk: 200,
  async run(first, size, seed) {
    const failures: string[] = [];
    for (let run = first; run < first + size; run += 1) {
      const choices = choicesOf(seed, run);
      const problem = await playHistory(choices);
      if (problem !== undefined) failures.push(`${JSON.stringify(choices)}\n${problem}`);
    }
    return { cases: size, failures };
  },
});

/** Numbers by the generator of Lehmer. */
function choicesOf(seed: number, run: number): readonly number[] {
  let last = ((seed * 1_000_003 + run) % 2_147_483_646) + 1;
  return Array.from({ length: 40 }, () => {
    last = (last * 48_271) % 2_147_483_647;
    return last >> 4;
  });
}
