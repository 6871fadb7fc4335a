/**
 * Fifty readers of a long session that read nothing while its model streams: the memory of the server does not grow with what they are
 * behind, and those that read later get everything once.
 */
import { conclude } from "./parts/summary.ts";
import { proveSlowReaders } from "./slow-readers/prove.ts";

const begun = performance.now();
const mebibyte = 1_048_576;
const maxGrown = 200 * mebibyte;

const result = await proveSlowReaders({ records: 100_000, tokens: 100_000, unread: 50, heapMiB: 512 });
const failures = [...result.problems];
if (result.grownBytes > maxGrown) failures.push("The memory of the server has grown by more than 200 MiB.");
for (const failure of failures) console.log(failure);
const inMebibytes = (bytes: number): number => Math.round(bytes / mebibyte);
conclude(
  {
    proof: "slow-readers",
    cases: 54,
    failures: failures.length,
    grownMiB: inMebibytes(result.grownBytes),
    unreadMiB: inMebibytes(result.unreadBytes),
  },
  begun,
);
