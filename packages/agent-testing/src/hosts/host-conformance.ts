import { readSession } from "@moora/agent";
import { CaseRun, caseSession } from "./case-run.ts";
import { checkExpectations, checkRecords } from "./check-expectations.ts";
import type { CommitDeath, ConformanceHost, PreparedHost } from "./host.ts";
import type { HostScenario } from "./host-case.ts";
import { hostScenarios } from "./scenarios.ts";
import { RecordedWorld } from "./world.ts";

/** A case of the suite on one host. */
export interface HostCase {
  /** A sentence about hosts. */
  readonly name: string;
  readonly group: string;
  /** Why this host cannot run the case; undefined if it can. */
  readonly reason: string | undefined;
  /** Runs the case. Rejects with `HostNotConforming` if the sentence is not true of the host. */
  readonly run: () => Promise<void>;
}

/**
 * The conformance suite for hosts of agents: what holds for a session on every host, from the first message to a take-over. Run
 * each case that has no `reason`, and document the reasons. Each case prepares the host anew.
 */
export const hostConformance = (host: ConformanceHost): readonly HostCase[] =>
  hostScenarios.map((scenario) => ({
    name: scenario.name,
    group: scenario.group,
    reason: scenario.needs.map((need) => host.cannot[need]).find((reason) => reason !== undefined),
    run: () => runScenario(host, scenario),
  }));

async function runScenario(host: ConformanceHost, scenario: HostScenario): Promise<void> {
  const records = await runOnce(host, scenario);
  if (scenario.deaths === undefined) return;
  for (let seq = 1; seq <= records; seq += 1) {
    await runOnce(host, scenario, { seq, when: "before" });
    await runOnce(host, scenario, { seq, when: "after" });
  }
}

/** Runs a scenario and resolves with the number of records of its session. */
async function runOnce(host: ConformanceHost, scenario: HostScenario, death?: CommitDeath): Promise<number> {
  const world = new RecordedWorld();
  const prepared = await host.prepare({ world });
  try {
    const run = new CaseRun(world, prepared, death === undefined ? {} : { death });
    await run.run(scenario);
    const state = await prepared.waitFor(caseSession, () => true);
    checkExpectations(scenario.expects, { state, world, streamed: run.streamed });
    return host.cannot.records === undefined ? await soundRecords(prepared) : 0;
  } finally {
    world.releaseAll();
    await prepared.dispose();
  }
}

async function soundRecords(prepared: PreparedHost): Promise<number> {
  await checkRecords(prepared, caseSession);
  if (prepared.log === undefined) return 0;
  return (await readSession(await prepared.log(caseSession), caseSession)).records.length;
}
