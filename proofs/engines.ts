/**
 * (A06) Folds every golden log in every engine that there is: states, effects and requests have to be the same bytes at every
 * position, those of this process, whose states and effects a test compares with those that were recorded. In one run all is taken away that is not the same everywhere: clocks, chance, locales.
 *
 *   engines.ts [--only NAME]
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { differencesOf } from "@moora/agent";
import { goldenText, recordedNames } from "@moora/testbed/corpus/files";
import { positionsOf, shownAt } from "@moora/testbed/corpus/positions";
import { chromium, installedNode, nodeEngine, systemNode, type Engine } from "./engines/engines.ts";
import type { Answer } from "./engines/fold.ts";
import { bundled, root } from "./parts/bundle.ts";
import { conclude } from "./parts/summary.ts";

const startedAt = performance.now();
const { values: options } = parseArgs({ options: { only: { type: "string" } } });

const folder = join(root, ".prove", "engines");
mkdirSync(folder, { recursive: true });
await bundled({
  entries: { fold: join(import.meta.dirname, "engines/fold.ts") },
  folder,
  isForBrowser: true,
});
const bundle = join(folder, "fold.mjs");

const sessions = Object.fromEntries(recordedNames().map((name) => [name, goldenText(name)]));

const columns = ["state", "effects", "request"] as const;

/** Where a position differs, down to the path in its state, its effects or its request. */
function pathOf(engine: Engine, session: string, seq: number, line: string, golden: string): string {
  if (line === "" || golden === "") return `There ${line === "" ? "should be" : "is"} one more position.`;
  const [found, expected] = [line.split(" "), golden.split(" ")];
  const column = columns.find((_, index) => found[index] !== expected[index]) ?? "request";
  const show = { session, seq };
  const { shown } = engine.ask({ sessions: { [session]: sessions[session] ?? "" }, bare: false, show });
  const here = shownAt(sessions[session] ?? "", seq)[column];
  const [difference] = differencesOf(JSON.parse(shown?.[column] ?? "null"), JSON.parse(here), 1);
  const where = difference === undefined ? "the order of keys" : difference.path;
  return `${column}, ${where}: ${JSON.stringify(difference?.a)} and here ${JSON.stringify(difference?.b)}`;
}

/** The first difference of each session between what an engine found and what this process finds. */
function failuresOf(engine: Engine, { positions, touched }: Answer): readonly string[] {
  const failures = touched.map((name) => `${name} was asked for.`);
  for (const name of recordedNames()) {
    const lines = positions[name];
    const golden = positionsOf(sessions[name] ?? "");
    if (!Array.isArray(lines)) {
      failures.push(`${name}: ${String(lines)}`);
      continue;
    }
    const length = Math.max(lines.length, golden.length);
    const seq = Array.from({ length }, (_, index) => index).find((index) => lines[index] !== golden[index]);
    if (seq === undefined) continue;
    failures.push(
      `${name}, record ${seq}: ${pathOf(engine, name, seq, lines[seq] ?? "", golden[seq] ?? "")}`,
    );
  }
  return failures;
}

const own = nodeEngine(`Node ${process.versions.node}`, process.execPath, bundle);
const engines = [
  { engine: own, bare: false },
  { engine: { ...own, name: `${own.name} without clocks, chance and locales (A03)` }, bare: true },
  { engine: installedNode(22, join(folder, "node-22"), bundle), bare: false },
  { engine: systemNode(bundle), bare: false },
  { engine: chromium(bundle), bare: false },
].filter(({ engine: { name } }) => options.only === undefined || name.includes(options.only));

let cases = 0;
let failed = 0;
for (const { engine, bare } of engines) {
  if ("why" in engine) {
    failed += 1;
    console.log(`MISSING ${engine.name}: ${engine.why}`);
    continue;
  }
  const begunAt = performance.now();
  const answer = engine.ask({ sessions, bare });
  const failures = failuresOf(engine, answer);
  const positions = Object.values(answer.positions).reduce((sum, lines) => sum + lines.length, 0);
  cases += positions;
  failed += failures.length;
  const seconds = ((performance.now() - begunAt) / 1_000).toFixed(1);
  console.log(
    `${failures.length === 0 ? "ok  " : "FAIL"} ${engine.name}: ${positions} positions in ${seconds} s`,
  );
  for (const failure of failures) console.log(`  ${failure}`);
}
conclude(
  {
    proof: "engines",
    cases,
    failures: failed,
    engines: engines.length,
    sessions: Object.keys(sessions).length,
  },
  startedAt,
);
