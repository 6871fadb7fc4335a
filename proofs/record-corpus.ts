/** Records the corpus anew: what it holds is golden, so look at every line of the difference before you commit it. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { corpus, digestsFile, sessionFile } from "@moora/testbed/corpus/files";
import { positionsOf } from "@moora/testbed/corpus/positions";
import { recordedText, recordings } from "@moora/testbed/corpus/recordings";

const startedAt = performance.now();
for (const folder of ["sessions", "digests"]) {
  rmSync(join(corpus, folder), { recursive: true, force: true });
  mkdirSync(join(corpus, folder), { recursive: true });
}

let bytes = 0;
let positions = 0;
for (const recording of recordings) {
  const text = await recordedText(recording);
  const lines = positionsOf(text);
  writeFileSync(sessionFile(recording.name), text);
  writeFileSync(digestsFile(recording.name), `${lines.join("\n")}\n`);
  bytes += text.length;
  positions += lines.length;
}

const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
console.log(`${recordings.length} sessions, ${positions} positions, ${Math.round(bytes / 1_000)} KB`);
console.log(
  JSON.stringify({ proof: "record-corpus", cases: recordings.length, failures: 0, seconds, positions }),
);
