/**
 * The tests are tested (O01): faults that a programmer might make, one at a time, in a copy of the workspace; each has to be
 * noticed by a test whose name says what is broken. `--only N`: one of them.
 */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { conclude } from "./parts/summary.ts";
import { copyTree, type TreeCopy } from "./seeded-faults/tree-copy.ts";
import type { Fault } from "./seeded-faults/fault.ts";
import { faults } from "./seeded-faults/faults.ts";
import { runTests, type TestResult } from "./seeded-faults/run-tests.ts";

const limitMs = 180_000;

const { values } = parseArgs({ options: { only: { type: "string" } } });
const chosen = faults.filter(({ number }) => values.only === undefined || String(number) === values.only);
if (chosen.length === 0) {
  const numbers = faults.map(({ number }) => number);
  console.error(
    `--only must be the number of a fault (${Math.min(...numbers)} to ${Math.max(...numbers)}), got ${values.only}.`,
  );
  process.exit(2);
}

const begun = performance.now();
const seconds = (from: number): number => Math.round((performance.now() - from) / 1_000);

/** The names of the tests that notice a fault; what is wrong where none does. */
type Verdict = { readonly caughtBy: readonly string[] } | { readonly problem: string };

async function verdictOn({ changes, tests, caughtBy, hangs }: Fault, tree: TreeCopy): Promise<Verdict> {
  try {
    const run = await tree.withChanges(changes, () => runTests(tree.path, tests, caughtBy, limitMs));
    const noticed = run.results.filter(
      ({ name, status }) =>
        caughtBy.test(name) && (status === "failed" || (status === "late" && hangs === true)),
    );
    if (noticed.length > 0) return { caughtBy: noticed.map(({ name }) => name) };
    if (run.isStuck) return { problem: "the run was stuck" };
    return { problem: run.results.length === 0 ? `no test ran: ${run.output}` : "no test noticed it" };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/** What is wrong with the tests themselves: they have to be there, and to pass in a tree without a fault. */
async function unharmed(tree: TreeCopy): Promise<readonly string[]> {
  const files = [...new Set(chosen.flatMap(({ tests }) => tests))];
  const names = new RegExp(chosen.map(({ caughtBy }) => `(?:${caughtBy.source})`).join("|"));
  const { results, output } = await runTests(tree.path, files, names, limitMs * 2);
  const isIts = ({ tests, caughtBy }: Fault, { file, name }: TestResult): boolean =>
    tests.includes(file) && caughtBy.test(name);
  return chosen.flatMap((fault) => {
    const its = results.filter((result) => result.status !== "skipped" && isIts(fault, result));
    const broken = its.filter(({ status }) => status !== "passed").map(({ name }) => name);
    if (its.length === 0) return [`${fault.number}: there is no such test. ${output}`];
    return broken.map((name) => `${fault.number}: fails without any fault: ${name}`);
  });
}

function printed({ number, name }: Fault, verdict: Verdict, from: number): string {
  const found = "problem" in verdict ? "SURVIVES" : "caught";
  const shown = "problem" in verdict ? [verdict.problem] : verdict.caughtBy.slice(0, 2);
  const rest = "problem" in verdict ? 0 : verdict.caughtBy.length - shown.length;
  return [
    `${String(number).padStart(3)}  ${found.padEnd(8)}  ${`${seconds(from)} s`.padStart(5)}  ${name}`,
    ...[...shown, ...(rest > 0 ? [`and ${rest} more`] : [])].map((line) => `${" ".repeat(22)}${line}`),
  ].join("\n");
}

using copies = new DisposableStack();
// One tree a core: each run of a few tests keeps one core busy.
const lanes = Math.min(availableParallelism(), chosen.length);
const trees = Array.from({ length: lanes }, () => copies.use(copyTree()));

const problems = trees[0] === undefined ? [] : await unharmed(trees[0]);
for (const problem of problems) console.log(`FAILED  ${problem}`);
console.log(`${chosen.length} faults; the tree without one: ${seconds(begun)} s`);

let failures = problems.length;
const waiting = chosen.values();
const inLane = async (tree: TreeCopy): Promise<void> => {
  // The lanes share the iterator, so each fault is taken once.
  for (const fault of waiting) {
    const from = performance.now();
    const verdict = await verdictOn(fault, tree);
    if ("problem" in verdict) failures += 1;
    console.log(printed(fault, verdict, from));
  }
};
await Promise.all(trees.map(inLane));
conclude({ proof: "seeded faults", cases: chosen.length, failures }, begun);
