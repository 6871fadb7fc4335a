import { expect, it } from "vitest";
import { proveSlowReaders } from "../proofs/slow-readers/prove.ts";

/** The short form of `proofs/slow-readers.ts`. Without bounds, the readers would need more than the heap of the server. */
it("fifty readers that read nothing do not fill the memory of a server, and late ones get everything once", async () => {
  const options = { records: 10_000, tokens: 2_000, unread: 50, heapMiB: 96 };
  const { problems, grownBytes } = await proveSlowReaders(options);
  expect(problems).toEqual([]);
  expect(grownBytes).toBeLessThan(150 * 1_048_576);
});
