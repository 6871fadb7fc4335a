import { join } from "node:path";
import {
  hostConformance,
  logHost,
  memoryHost,
  type ConformanceHost,
  type HostCase,
} from "@moora/agent-testing/hosts";
import { TestBrowser } from "@moora/testbed/browser";
import { chromiumPath } from "@moora/testbed/chromium";
import { knownHosts, restateCannot } from "@moora/testbed/hosts";
import { poolOn, PostgresServer } from "@moora/testbed/postgres/server";
import { postgresStorage } from "@moora/testbed/postgres/storage";
import { jsonlStorage, sqliteStorage } from "@moora/testbed/stores";
import { workerdHost } from "../../packages/cloudflare/test/workerd-host.ts";
import { dbosConformanceHost } from "../../packages/dbos/test/conformance-host.ts";
import { RestateHost, type RestateHostOptions } from "../../packages/restate/test/restate-host.ts";
import { root } from "../../scripts/workspace.ts";
import { countKills, type Kills } from "./count-kills.ts";

/** Runs cases. */
export type RunCases = (cases: readonly HostCase[]) => Promise<void>;

/** The suite on a host, or a group of it. */
export interface HostRun {
  /** The name of the host in `knownHosts`. */
  readonly host: string;
  /** What is killed, where a host has several runs. */
  readonly victim?: string;
  readonly group?: string;
  /** Gives the cases to `runCases`, while the host is ready. */
  readonly run: (runCases: RunCases, kills: Kills) => Promise<void>;
}

const suite = (host: ConformanceHost, kills: Kills): readonly HostCase[] =>
  hostConformance(countKills(host, kills));

const runOf = (name: string, host: ConformanceHost): HostRun => ({
  host: name,
  run: async (runCases, kills) => await runCases(suite(host, kills)),
});

const postgresRun: HostRun = {
  host: "PostgreSQL",
  async run(runCases, kills) {
    await using server = await PostgresServer.start();
    const pool = poolOn(server.url);
    await runCases(
      suite(
        logHost("PostgreSQL", () => postgresStorage(pool, server.url)),
        kills,
      ),
    );
    await pool.end();
  },
};

const dbosRun: HostRun = {
  host: "DBOS",
  async run(runCases, kills) {
    await using server = await PostgresServer.start();
    await runCases(suite(dbosConformanceHost(server.url), kills));
  },
};

/** The whole suite, or the batch with the server as the victim. */
const restateRun = (
  about: Pick<HostRun, "victim" | "group">,
  options: Partial<RestateHostOptions> = {},
): HostRun => ({
  host: "Restate",
  ...about,
  async run(runCases, kills) {
    await using restate = await RestateHost.start(options);
    const host = { name: "Restate", cannot: restateCannot, prepare: restate.prepare.bind(restate) };
    await runCases(suite(host, kills));
  },
});

const browserTests = join(root, "packages/agent-testing/test-browser");

const browserRun: HostRun = {
  host: "IndexedDB, in a worker",
  async run(runCases) {
    await using browser = await TestBrowser.start({
      scripts: { page: join(browserTests, "case-page.ts"), worker: join(browserTests, "case-worker.ts") },
    });
    const page = await browser.open();
    const cannot = knownHosts.find(({ name }) => name === browserRun.host)?.cannot ?? {};
    const cases = hostConformance({ name: browserRun.host, cannot, prepare: () => Promise.reject() });
    const run = async (name: string): Promise<void> => {
      const error = await page.evaluate((wanted) => runInWorker(wanted), name);
      if (error !== "") throw new Error(error);
    };
    await runCases(cases.map((found) => ({ ...found, run: () => run(found.name) })));
  },
};

/** All runs. The one in a browser needs Chromium. */
export const hostRuns: readonly HostRun[] = [
  runOf("in memory", memoryHost),
  runOf(
    "JSONL",
    logHost("JSONL", () => jsonlStorage({ durability: "relaxed" })),
  ),
  runOf(
    "SQLite",
    logHost("SQLite", () => sqliteStorage({ durability: "relaxed" })),
  ),
  postgresRun,
  restateRun({ victim: "the process with the agent" }),
  restateRun({ victim: "the process with the agent, which keeps no session" }, { cacheBytes: 1 }),
  restateRun({ victim: "its server", group: "a batch of three tools" }, { victim: "server" }),
  dbosRun,
  ...(chromiumPath() === undefined ? [] : [browserRun]),
  runOf("Cloudflare", workerdHost),
];
