import { describe, expect, it } from "vitest";
import { goldenText, recordedNames } from "@moora/testbed/corpus/files";
import { recordedText, recordings } from "@moora/testbed/corpus/recordings";

/** Where two texts part, as a line; undefined where they do not. A line of a session is its position. */
function firstDifference(found: readonly string[], golden: readonly string[]): string | undefined {
  const length = Math.max(found.length, golden.length);
  for (let line = 0; line < length; line += 1) {
    if (found[line] !== golden[line])
      return `at ${line}: ${found[line] ?? "nothing"} was ${golden[line] ?? "nothing"}`;
  }
  return undefined;
}

describe("(L01, L03) the golden logs", () => {
  it("are those of the transcripts, a hundred at least", () => {
    expect(recordedNames()).toEqual(recordings.map(({ name }) => name).toSorted());
    expect(recordings.length).toBeGreaterThanOrEqual(100);
  });

  it.each(recordings)("of $name are recorded again with the same bytes", async (recording) => {
    const found = (await recordedText(recording)).split("\n");
    expect(firstDifference(found, goldenText(recording.name).split("\n"))).toBeUndefined();
  });
});
