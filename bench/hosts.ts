/**
 * The cost of a model call or tool call of a session on each host, beside the bare step of its engine, and what Restate writes for
 * sessions of different lengths.
 *
 *   hosts.ts [--samples 15] [--warmUps 3] [--records 0,100,300,1000,2000,3000] [--uncachedRecords 0,300] [--loops 10] [--crowd 16]
 */
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { PostgresServer } from "@moora/testbed/postgres/server";
import { quantile, ratioOf } from "./harness/statistics.ts";
import { calls } from "./hosts/agent.ts";
import { dbosWays } from "./hosts/dbos-ways.ts";
import { objectWays } from "./hosts/object-ways.ts";
import { RestateWays } from "./hosts/restate-ways.ts";
import { sessionWays } from "./hosts/session-ways.ts";

const { values } = parseArgs({
  options: {
    samples: { type: "string", default: "15" },
    /** Samples before the ones that count. */
    warmUps: { type: "string", default: "3" },
    /** The least records of a session on Restate before what it writes is measured, and the loops of each measurement. */
    records: { type: "string", default: "0,100,300,1000,2000,3000" },
    loops: { type: "string", default: "10" },
    /** The same in a process that keeps no session. */
    uncachedRecords: { type: "string", default: "0,300" },
    /** Sessions on Restate at once. */
    crowd: { type: "string", default: "16" },
  },
});
const samples = Number(values.samples);
const warmUps = Number(values.warmUps);
const numbersOf = (text: string): readonly number[] => text.split(",").map(Number);
const loops = Number(values.loops);
const crowd = Number(values.crowd);

await using postgres = await PostgresServer.start({ isDurable: true });
await using sessions = await sessionWays(postgres.url);
await using dbos = await dbosWays(postgres.url);
await using restate = await RestateWays.start();
await using objects = await objectWays();

const ways = [...sessions.ways, ...dbos.ways, ...restate.ways, ...objects.ways];
const times = new Map(ways.map(({ name }) => [name, [] as number[]]));
for (let sample = -warmUps; sample < samples; sample += 1) {
  for (const { name, run } of ways) {
    const start = performance.now();
    await run(sample + warmUps);
    if (sample >= 0) times.get(name)?.push((performance.now() - start) / calls);
  }
}

const timesOf = (name = ""): readonly number[] => times.get(name) ?? [];
console.log("| host | ms for each call | beside | ratio |\n| --- | --- | --- | --- |");
for (const { name, beside } of ways) {
  const ours = timesOf(name);
  const other =
    beside === undefined
      ? ["", ""]
      : [
          `${beside}: ${quantile(timesOf(beside), 0.5).toFixed(2)} ms`,
          ratioOf(ours, timesOf(beside)).toFixed(1),
        ];
  if (!name.startsWith("a bare"))
    console.log(`| ${[name, quantile(ours, 0.5).toFixed(2), ...other].join(" | ")} |`);
}
/** Prints what Restate writes for a session as it grows. */
async function printGrowths(of: RestateWays, least: readonly number[]): Promise<void> {
  const columns = ["records", "bytes of the state", "bytes that Restate writes for each call"];
  console.log(`\n| ${columns.join(" | ")} |\n| --- | --- | --- |`);
  for (const growth of await of.growths(least, loops))
    console.log(`| ${growth.records} | ${growth.stateBytes} | ${Math.round(growth.writtenBytesPerCall)} |`);
}

await printGrowths(restate, numbersOf(values.records));
console.log("\nIn a process that keeps no session:");
await using forgetful = await RestateWays.start({ cacheBytes: 1 });
await printGrowths(forgetful, numbersOf(values.uncachedRecords));
console.log(
  `\n${crowd} sessions on Restate at once: ${Math.round(await restate.callsPerSecond(crowd))} calls a second`,
);
console.log(
  `Medians of ${samples} loops of ${calls} calls, ${cpus().length} cores, Node ${process.version}.`,
);
