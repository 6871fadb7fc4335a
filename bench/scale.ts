/**
 * What sessions cost a PostgreSQL, measured; what a number of them that are open at the same time needs, and where one server reaches
 * its limits, computed; the appends that notify as many processes, computed and measured; and the renewals of leases, simulated.
 *
 *   scale.ts [--sessions 1000000] [--stepsPerMinute 1] [--processes 100]
 *     [--measureMs 2000] [--storedSessions 1000000] [--listening 1,10,50,100] [--rounds 5]
 */
import { parseArgs } from "node:util";
import { demandOf, limitsOf } from "./scale/demand.ts";
import { simulateLeases } from "./scale/lease-simulation.ts";
import { PostgresLoad } from "./scale/postgres-load.ts";

const { values } = parseArgs({
  options: {
    sessions: { type: "string", default: "1000000" },
    stepsPerMinute: { type: "string", default: "1" },
    processes: { type: "string", default: "100" },
    /** How long each rate is measured. */
    measureMs: { type: "string", default: "2000" },
    /** The sessions in the database while queries about many of them are measured. */
    storedSessions: { type: "string", default: "1000000" },
    /** The numbers of processes with which the rate of appends that notify is checked, and how often. */
    listening: { type: "string", default: "1,10,50,100" },
    rounds: { type: "string", default: "5" },
  },
});
const given = {
  sessions: Number(values.sessions),
  stepsPerMinute: Number(values.stepsPerMinute),
  processes: Number(values.processes),
};

await using load = await PostgresLoad.start({
  measureMs: Number(values.measureMs),
  storedSessions: Number(values.storedSessions),
});
// First: it counts all records of the database.
const sizes = await load.measureSizes();
const notifications = await load.measureNotifications(
  values.listening.split(",").map(Number),
  Number(values.rounds),
);
const measured = {
  ...sizes,
  ...(await load.measureAppends()),
  ...(await load.measureLeases()),
  ...notifications.rates(),
  ...(await load.measureManySessions()),
};
console.log("measured", measured);
console.log("needed", given, demandOf(given, measured));
console.log("one server is at its limit with so many open sessions", limitsOf(given, measured));
console.log("appends a second that notify a number of processes");
console.table(notifications.checks());

const { renewalsPerSecond } = measured;
const most = limitsOf(given, measured).leases;
const rows = [0.5, 0.9, 1.1, 2, 4].flatMap((share) =>
  [0, 10_000, 25_000].map((pauseMs) => {
    const sessions = Math.round(most * share);
    const outcome = simulateLeases({
      sessions,
      leaseMs: 30_000,
      renewalsPerSecond,
      pauseMs,
      durationMs: 600_000,
    });
    return { sessions, pauseMs, ...outcome };
  }),
);
console.log("leases of 30 s in ten minutes, with a pause of the database");
console.table(rows);
