/**
 * Kills a real process, with SIGKILL, at every position of every transcript in every phase, and takes the session up from
 * what it left behind: nothing may be lost or doubled.
 *
 *   crash-matrix.ts [--transcripts all|N] [--stores jsonl,sqlite,postgres] [--fresh] [--case store/transcript/phase+number]
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { recordings, type Recording } from "@moora/testbed/corpus/recordings";
import { PostgresServer } from "@moora/testbed/postgres/server";
import { casesOf, type Case } from "./crash-matrix/cases.ts";
import { killed, unbroken, warmUp, type Ground } from "./crash-matrix/kill.ts";
import { Lane } from "./crash-matrix/lane.ts";
import { Progress, type Row } from "./crash-matrix/progress.ts";
import { storeNames, type StoreName } from "./crash-matrix/stores.ts";
import { bundled, root } from "./parts/bundle.ts";
import { conclude } from "./parts/summary.ts";

const startedAt = performance.now();
const { values: options } = parseArgs({
  options: {
    transcripts: { type: "string" },
    stores: { type: "string", default: storeNames.join(",") },
    fresh: { type: "boolean", default: false },
    case: { type: "string" },
  },
});

const one = options.case?.split("/");
const stores = storeNames.filter((store) => (one?.[0] ?? options.stores).split(",").includes(store));

/** What is recorded with a death of its own is not killed once more, nor what has another outcome after one attempt more. */
const candidates = recordings.filter(
  ({ death, transcript }) => death === undefined && !transcript.countsAttempts,
);

/** The number of cases, spread evenly over the whole corpus; the default for stores behind a driver is 40. */
function chosenFor(store: StoreName): readonly Recording[] {
  if (one !== undefined) return candidates.filter(({ name }) => name === one[1]);
  const wish = options.transcripts ?? (store === "jsonl" ? "all" : "40");
  const count = wish === "all" ? candidates.length : Math.min(Number(wish), candidates.length);
  return candidates.filter(
    (_, index) =>
      Math.floor((index * count) / candidates.length) !==
      Math.floor(((index - 1) * count) / candidates.length),
  );
}

/** The bundled child, in a folder that is named by what is in it: what was proved of other code does not count. */
async function bundledChild(): Promise<{ readonly code: string; readonly bundle: string }> {
  const proofs = join(root, ".prove");
  mkdirSync(proofs, { recursive: true });
  const made = mkdtempSync(join(proofs, "crash-matrix-"));
  await bundled({ entries: { child: join(import.meta.dirname, "crash-matrix/child.ts") }, folder: made });
  const hash = createHash("sha256");
  for (const file of readdirSync(made).toSorted()) hash.update(readFileSync(join(made, file)));
  const code = hash.digest("hex").slice(0, 16);
  const bundle = join(proofs, `crash-matrix-${code}`);
  if (existsSync(bundle)) rmSync(made, { recursive: true });
  else renameSync(made, bundle);
  return { code, bundle };
}

const { code, bundle } = await bundledChild();
/** The result of a single case is not kept: it does not prove its transcript. */
const file = one === undefined ? join(root, ".prove", `crash-matrix-${code}.jsonl`) : undefined;
const progress = new Progress(file, options.fresh);

const lanes = Array.from({ length: availableParallelism() + 1 }, (_, index) => new Lane(bundle, index));
const isTheCase = ({ phase, at }: Case): boolean => one?.[2] === undefined || one[2] === `${phase}${at}`;

async function rowOf(ground: Ground, { name, transcript }: Recording): Promise<Row> {
  const whole = await unbroken(ground, `${name}/whole/${process.pid}`, transcript);
  const cases = casesOf(whole.inputs, whole.works).filter(isTheCase);
  const failures: string[] = whole.lived.problems.map(
    (problem) => `${ground.store}/${name}, unbroken: ${problem}`,
  );
  const queue = cases.values();
  let kills = 0;
  const work = async (lane: Lane): Promise<void> => {
    for (const next of queue) {
      const label = `${ground.store}/${name}/${next.phase}${next.at}`;
      const outcome = await killed(ground, lane, `${label}/${process.pid}`, transcript, next, whole).catch(
        (error: unknown) => ({ killed: false, losses: [String(error)] }),
      );
      kills += outcome.killed ? 1 : 0;
      const losses = outcome.killed ? outcome.losses : ["The process did not die.", ...outcome.losses];
      if (losses.length > 0) failures.push(`${label}: ${losses.join(" ")}`);
    }
  };
  await Promise.all(lanes.map(work));
  return { store: ground.store, transcript: name, cases: cases.length, kills, failures };
}

const reproduce = (failure: string): string =>
  `  node --conditions=@moora/source proofs/crash-matrix.ts --case "${failure.slice(0, failure.indexOf(":"))}"`;

async function proveOn(ground: Ground): Promise<void> {
  const chosen = chosenFor(ground.store);
  const [first] = chosen;
  const [lane] = lanes;
  if (first !== undefined && lane !== undefined) await warmUp(ground, lane, first.transcript);
  for (const recording of chosen) {
    if (progress.has(ground.store, recording.name)) continue;
    const row = await rowOf(ground, recording);
    progress.add(row);
    for (const failure of row.failures) console.log(`FAILED ${failure}\n${reproduce(failure)}`);
  }
  const rows = progress.rows.filter(({ store }) => store === ground.store);
  const kills = rows.reduce((sum, row) => sum + row.kills, 0);
  console.log(`${ground.store}: ${rows.length} transcripts, ${kills} kills`);
}

for (const store of stores) {
  if (store === "postgres") {
    await using server = await PostgresServer.start();
    await proveOn({ store, url: server.url });
  } else await proveOn({ store, url: "" });
}

for (const lane of lanes) lane[Symbol.dispose]();
const { rows } = progress;
conclude(
  {
    proof: "crash-matrix",
    cases: rows.reduce((sum, row) => sum + row.cases, 0),
    failures: rows.reduce((sum, row) => sum + row.failures.length, 0),
    kills: rows.reduce((sum, row) => sum + row.kills, 0),
    transcripts: rows.length,
  },
  startedAt,
);
