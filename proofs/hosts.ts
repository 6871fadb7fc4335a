/**
 * The whole conformance suite for hosts on all hosts. On the engines each process is a real one that is killed with SIGKILL: the
 * process with the agent on Restate, also one that keeps no session, and on DBOS, the server of Restate in each phase of a
 * batch, and the runtime of Cloudflare. `--record` writes which cases have passed, and on which day and commit, to
 * `docs/hosts-results.json`, of which `scripts/hosts.ts` makes the tables. A host is recorded after its last run; cases and hosts that
 * are not run keep their results.
 *
 *   hosts.ts [--only HOST] [--case WORDS] [--record]
 */
import { parseArgs } from "node:util";
import type { HostCase } from "@moora/agent-testing/hosts";
import { readHostResults, recordingOfToday, withRuns, writeHostResults } from "../scripts/host-results.ts";
import type { Kills } from "./hosts/count-kills.ts";
import { hostRuns, type HostRun } from "./hosts/host-runs.ts";
import { runByHost } from "./hosts/run-by-host.ts";
import { conclude } from "./parts/summary.ts";

const startedAt = performance.now();
const { values: options } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    case: { type: "string", default: "" },
    record: { type: "boolean", default: false },
  },
});

/** The day and the commit of what is run, before it writes anything; undefined if it is not recorded. */
const recording = options.record ? recordingOfToday() : undefined;

interface Row {
  readonly host: string;
  readonly cases: number;
  readonly kills: number;
  readonly failures: number;
}

const rows: Row[] = [];

/** Whether each case of a host has passed, in all runs that had it. */
const passed = new Map<string, Map<string, boolean>>();

async function prove({ host, victim, group, run }: HostRun): Promise<void> {
  const label = victim === undefined ? host : `${host}, ${victim}`;
  const counted: Kills = { kills: 0 };
  let [cases, failures] = [0, 0];
  const ofHost = passed.get(host) ?? new Map<string, boolean>();
  passed.set(host, ofHost);
  const isRun = (found: HostCase): boolean =>
    found.reason === undefined &&
    (group === undefined || found.group === group) &&
    found.name.includes(options.case);
  await run(async (suite) => {
    for (const found of suite.filter(isRun)) {
      cases += 1;
      const hasPassed = await passes(label, found);
      if (!hasPassed) failures += 1;
      ofHost.set(found.name, hasPassed && (ofHost.get(found.name) ?? true));
    }
  }, counted);
  const row = { host: label, cases, kills: counted.kills, failures };
  console.log(row);
  rows.push(row);
}

/** Writes what has been run so far. */
function record(): void {
  if (recording !== undefined) writeHostResults(withRuns(readHostResults(), passed, recording));
}

async function passes(label: string, { group, name, run }: HostCase): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    console.log(`FAILED ${label}: ${group}: ${name}: ${String(error)}`);
    return false;
  }
}

await runByHost(
  hostRuns.filter(({ host }) => host.includes(options.only)),
  prove,
  record,
);

const sumOf = (field: "cases" | "kills" | "failures"): number =>
  rows.reduce((sum, row) => sum + row[field], 0);
conclude(
  { proof: "hosts", cases: sumOf("cases"), failures: sumOf("failures"), kills: sumOf("kills") },
  startedAt,
);
