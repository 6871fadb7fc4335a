/**
 * Every proof, one after the other, and a table of the results.
 *
 *   prove.ts [--short] [--only WORDS] [--fresh] [--seed N]
 *
 * An interrupted run continues where it stopped, as long as the code is the same. `--short` proves a sample.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Conclusion } from "./parts/summary.ts";

const { values: options } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    fresh: { type: "boolean", default: false },
    seed: { type: "string", default: "1" },
  },
});

interface Proof {
  readonly name: string;
  /** The arguments of its script for the whole proof, without the seed, and for the sample; undefined leaves it out. */
  readonly whole: readonly string[];
  readonly short: readonly string[] | undefined;
  readonly takes?: "seed";
  /** A proof that keeps nothing has nothing to forget. */
  readonly isFresh?: true;
}

const proofs: readonly Proof[] = [
  { name: "four-approvals", whole: [], short: [] },
  { name: "parallel-tools", whole: [], short: ["--goal", "9600"] },
  { name: "reachable-states", whole: [], short: ["--goal", "10000"], takes: "seed" },
  { name: "fuzzed-inputs", whole: [], short: ["--goal", "60000"], takes: "seed" },
  { name: "engines", whole: [], short: undefined, isFresh: true },
  { name: "seeded-faults", whole: [], short: undefined, isFresh: true },
  { name: "slow-readers", whole: [], short: undefined, isFresh: true },
  { name: "repeated-posts", whole: [], short: undefined, isFresh: true },
  { name: "crash-matrix", whole: [], short: undefined },
  { name: "cluster", whole: [], short: undefined, isFresh: true },
  { name: "restate-partitions", whole: [], short: undefined, isFresh: true },
  { name: "every-case", whole: [], short: undefined, isFresh: true },
  { name: "refused-histories", whole: [], short: ["--goal", "900"], takes: "seed" },
  { name: "simulated-sessions", whole: [], short: ["--goal", "900"], takes: "seed" },
];

const rows: Conclusion[] = [];
for (const proof of proofs.filter(({ name }) => name.includes(options.only))) {
  const args = options.short ? proof.short : proof.whole;
  if (args === undefined) continue;
  console.log(`\n— ${proof.name}`);
  rows.push(await concluded(proof, args));
}

const cell = (value: number): string => value.toLocaleString("en").padStart(12);
console.log(
  `\n${"".padEnd(24)}${["cases", "failures", "seconds"].map((word) => word.padStart(12)).join("")}`,
);
for (const { proof, cases, failures, seconds } of rows)
  console.log(`${proof.padEnd(24)}${cell(cases)}${cell(failures)}${cell(seconds)}`);
process.exitCode = rows.every(({ failures }) => failures === 0) ? 0 : 1;

/** Runs a script, shows what it says, and reads its last line. One that ends without a summary has failed. */
async function concluded({ name, takes, isFresh }: Proof, args: readonly string[]): Promise<Conclusion> {
  const scriptArgs = [
    ...args,
    ...(takes === "seed" ? ["--seed", options.seed] : []),
    ...((options.fresh || options.short) && isFresh !== true ? ["--fresh"] : []),
  ];
  const script = join(import.meta.dirname, `${name}.ts`);
  const child = spawn(process.execPath, ["--conditions=@moora/source", script, ...scriptArgs], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    process.stdout.write(chunk);
    said = (said + chunk).slice(-100_000);
  });
  const code = await new Promise<number | null>((resolve) => void child.once("close", resolve));
  try {
    const summary: Conclusion = JSON.parse(said.trim().split("\n").at(-1) ?? "");
    return code === 0 || summary.failures > 0 ? summary : { ...summary, failures: 1 };
  } catch {
    return { proof: name, cases: 0, failures: 1, seconds: 0 };
  }
}
