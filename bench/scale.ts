/**
 * What sessions cost a PostgreSQL, measured, and what a number of them that are open at the same time needs, computed:
 * `scale.ts [--sessions 1000000] [--stepsPerMinute 1] [--processes 100]`. The database syncs its files.
 */
import { parseArgs } from "node:util";
import { PostgresLoad } from "./scale/postgres-load.ts";
import { demandOf } from "./scale/demand.ts";

const { values } = parseArgs({
  options: {
    sessions: { type: "string", default: "1000000" },
    stepsPerMinute: { type: "string", default: "1" },
    processes: { type: "string", default: "100" },
  },
});

await using load = await PostgresLoad.start();
const measured = {
  ...(await load.measureSizes()),
  ...(await load.measureAppends()),
  ...(await load.measureLeases()),
  ...(await load.measureNotifications()),
  ...(await load.measureManySessions()),
};
console.log("measured", measured);
const { sessions, stepsPerMinute, processes } = values;
const given = {
  sessions: Number(sessions),
  stepsPerMinute: Number(stepsPerMinute),
  processes: Number(processes),
};
console.log("needed", demandOf(given, measured));
