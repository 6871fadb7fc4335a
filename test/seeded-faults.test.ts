import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { faults } from "../proofs/seeded-faults/faults.ts";

const root = `${import.meta.dirname}/..`;

describe("the seeded faults", () => {
  it("have numbers of their own", () => {
    const numbers = faults.map(({ number }) => number);
    expect(numbers).toEqual([...new Set(numbers)]);
  });

  it.each(faults.flatMap(({ number, changes }) => changes.map(({ file, text }) => ({ number, file, text }))))(
    "change a text that is once in the sources: $number in $file",
    ({ file, text }) => {
      expect(readFileSync(`${root}/${file}`, "utf8").split(text)).toHaveLength(2);
    },
  );
});
