/**
 * The cost of a model call or tool call of a session on each host, beside the bare step of its engine, and what Restate writes for
 * sessions of different lengths.
 *
 *   hosts.ts [--samples 15]
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

const { values } = parseArgs({ options: { samples: { type: "string", default: "15" } } });
const samples = Number(values.samples);
/** Samples before the ones that count. */
const warmUps = 3;

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
async function printGrowths(of: RestateWays, records: readonly number[]): Promise<void> {
  const columns = ["records", "bytes of the state", "bytes that Restate writes for each call"];
  console.log(`\n| ${columns.join(" | ")} |\n| --- | --- | --- |`);
  for (const growth of await of.growths(records))
    console.log(`| ${growth.records} | ${growth.stateBytes} | ${Math.round(growth.writtenBytesPerCall)} |`);
}

await printGrowths(restate, [0, 100, 300, 1_000, 2_000, 3_000]);
console.log("\nIn a process that keeps no session:");
await using forgetful = await RestateWays.start({ cacheBytes: 1 });
await printGrowths(forgetful, [0, 300]);
console.log(
  `\n16 sessions on Restate at once: ${Math.round(await restate.callsPerSecond(16))} calls a second`,
);
console.log(
  `Medians of ${samples} loops of ${calls} calls, ${cpus().length} cores, Node ${process.version}.`,
);
