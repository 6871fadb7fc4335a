/** The whole conformance suite for hosts on DBOS: each process is a real one, and is killed with SIGKILL. */
import { hostConformance } from "@moora/agent-testing/hosts";
import { poolOn, PostgresServer } from "@moora/testbed/postgres/server";
import { dbosConformanceHost } from "../packages/dbos/test/conformance-host.ts";
import { conclude } from "./parts/summary.ts";

const startedAt = performance.now();
await using server = await PostgresServer.start();
const pool = poolOn(server.url);
const host = dbosConformanceHost({
  query: (sql) => pool.query(sql),
  urlOf: (database) => server.url.replace(/postgres$/, database),
});

let cases = 0;
let failures = 0;
for (const { group, name, reason, run } of hostConformance(host)) {
  if (reason !== undefined) {
    console.log(`left out: ${group}: ${name}. ${reason}`);
    continue;
  }
  cases += 1;
  await run().catch((error: unknown) => {
    failures += 1;
    console.log(`FAILED ${group}: ${name}: ${String(error)}`);
  });
}
await pool.end();
conclude({ proof: "dbos", cases, failures }, startedAt);
