/**
 * Servers and workers in several processes on one PostgreSQL: nothing is lost or doubled while they are killed and restarted, a
 * session that fails does not stop the others, and figures of take-over.
 *
 *   cluster.ts [--short] [--ends N]
 */
import { parseArgs } from "node:util";
import { proveNeighbors } from "./cluster/neighbors.ts";
import { provePoison } from "./cluster/poison.ts";
import { proveRolling } from "./cluster/rolling.ts";
import { measureTakeOver } from "./cluster/take-over.ts";
import { World } from "./cluster/world.ts";
import { conclude } from "./parts/summary.ts";

const startedAt = performance.now();
const { values: options } = parseArgs({
  options: { short: { type: "boolean", default: false }, ends: { type: "string" } },
});
const ends = Number(options.ends ?? (options.short ? 6 : 60));

async function rolling() {
  await using world = await World.start(false);
  return await proveRolling(world, {
    servers: 3,
    conversations: 12,
    ends,
    answersBetween: 100,
    leaseMs: 1_500,
  });
}

const rolled = await rolling();
console.log("kills and restarts under load", rolled);
const poison = await provePoison(options.short ? 20 : 100);
console.log("poison sessions", poison);
const neighbors = await proveNeighbors(options.short ? 4 : 20);
console.log("calls beside a poison session", neighbors);

if (!options.short) {
  for (const leaseMs of [1_500, 5_000, 30_000]) {
    const delaysMs = (await measureTakeOver({ sessions: 20, leaseMs })).delaysMs.toSorted(
      (one, other) => one - other,
    );
    console.log({ leaseMs, takenOverAfterMs: [delaysMs.at(0), delaysMs.at(-1)] });
  }
}

const problems = [...rolled.problems, ...poison.problems, ...neighbors.problems];
for (const problem of problems) console.log(`FAILED ${problem}`);
conclude(
  {
    proof: "cluster",
    cases: rolled.messages + poison.sessions + neighbors.sessions,
    failures: problems.length,
    kills: rolled.kills,
    restarts: rolled.restarts,
    records: rolled.records,
  },
  startedAt,
);
