/**
 * Records the corpus of the current rules, `corpus/rules-N`. What it holds is golden and stays for ever, so look at what it contains before
 * you commit it. The corpus of rules that were released is never recorded again: the reducer that has changed has other rules.
 *
 *   record-corpus.ts [--again]
 *
 * --again replaces the corpus of rules that were not released yet.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { corpusOf, digestsFile, sessionFile } from "@moora/testbed/corpus/files";
import { foldedOf, positionsOf } from "@moora/testbed/corpus/positions";
import { recordedText, recordings } from "@moora/testbed/corpus/recordings";

const startedAt = performance.now();
const { values: options } = parseArgs({ options: { again: { type: "boolean" } } });
const folder = corpusOf();
const name = relative(process.cwd(), folder);
if (existsSync(folder) && options.again !== true) {
  console.error(
    `${name} exists. Increase rulesVersion in packages/agent-core-state-machine/src/rules.ts, or use --again if no release has these rules.`,
  );
  process.exit(1);
}
rmSync(folder, { recursive: true, force: true });
for (const kind of ["sessions", "digests"]) mkdirSync(join(folder, kind), { recursive: true });

let bytes = 0;
let positions = 0;
for (const recording of recordings) {
  const text = await recordedText(recording);
  const lines = positionsOf(text).map(foldedOf);
  writeFileSync(sessionFile(recording.name), text);
  writeFileSync(digestsFile(recording.name), `${lines.join("\n")}\n`);
  bytes += text.length;
  positions += lines.length;
}

const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
console.log(
  `${name}: ${recordings.length} sessions, ${positions} positions, ${Math.round(bytes / 1_000)} KB`,
);
console.log(
  JSON.stringify({ proof: "record-corpus", cases: recordings.length, failures: 0, seconds, positions }),
);
