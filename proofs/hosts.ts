/**
 * The whole conformance suite for hosts on the engines, each process a real one that is killed with SIGKILL: the process with the
 * agent on Restate, also one that keeps no session, and on DBOS, the server of Restate in each phase of a batch, and the runtime of
 * Cloudflare.
 *
 *   hosts.ts [--only WORDS]
 */
import { parseArgs } from "node:util";
import { hostConformance, type ConformanceHost } from "@moora/agent-testing/hosts";
import { restateCannot } from "@moora/testbed/hosts";
import { poolOn, PostgresServer } from "@moora/testbed/postgres/server";
import { workerdHost } from "../packages/cloudflare/test/workerd-host.ts";
import { dbosConformanceHost } from "../packages/dbos/test/conformance-host.ts";
import { RestateHost, type RestateHostOptions } from "../packages/restate/test/restate-host.ts";
import { countKills, type Kills } from "./hosts/count-kills.ts";
import { conclude } from "./parts/summary.ts";

const startedAt = performance.now();
const { values: options } = parseArgs({ options: { only: { type: "string", default: "" } } });

interface Row {
  readonly host: string;
  readonly cases: number;
  readonly kills: number;
  readonly failures: number;
}

const rows: Row[] = [];

/** Runs the cases of a host; with `group` only those of a group. */
async function prove(name: string, host: ConformanceHost, group?: string): Promise<void> {
  const counted: Kills = { kills: 0 };
  let [cases, failures] = [0, 0];
  for (const found of hostConformance(countKills(host, counted))) {
    if (found.reason !== undefined || (group !== undefined && found.group !== group)) continue;
    cases += 1;
    await found.run().catch((error: unknown) => {
      failures += 1;
      console.log(`FAILED ${name}: ${found.group}: ${found.name}: ${String(error)}`);
    });
  }
  const row = { host: name, cases, kills: counted.kills, failures };
  console.log(row);
  rows.push(row);
}

const isWanted = (name: string): boolean => name.includes(options.only);

interface RestateRun {
  readonly name: string;
  readonly options: Partial<RestateHostOptions>;
  readonly group?: string;
}

/** What is killed on Restate, and whether the process keeps sessions. */
const restateRuns: readonly RestateRun[] = [
  { name: "Restate, service", options: {} },
  { name: "Restate, service that keeps no session", options: { cacheBytes: 1 } },
  { name: "Restate, server", options: { victim: "server" }, group: "a batch of three tools" },
];

for (const { name, options: hostOptions, group } of restateRuns) {
  if (!isWanted(name)) continue;
  await using restate = await RestateHost.start(hostOptions);
  const host: ConformanceHost = {
    name: "Restate",
    cannot: restateCannot,
    prepare: (setup) => restate.prepare(setup),
  };
  await prove(name, host, group);
}
if (isWanted("Cloudflare")) await prove("Cloudflare", workerdHost);
if (isWanted("DBOS")) {
  await using server = await PostgresServer.start();
  const pool = poolOn(server.url);
  const host = dbosConformanceHost({
    query: (sql) => pool.query(sql),
    urlOf: (database) => server.url.replace(/postgres$/, database),
  });
  await prove("DBOS", host);
  await pool.end();
}

const sumOf = (field: "cases" | "kills" | "failures"): number =>
  rows.reduce((sum, row) => sum + row[field], 0);
conclude(
  { proof: "hosts", cases: sumOf("cases"), failures: sumOf("failures"), kills: sumOf("kills") },
  startedAt,
);
