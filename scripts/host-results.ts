import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hostConformance, type HostCase } from "@moora/agent-testing/hosts";
import { knownHosts } from "@moora/testbed/hosts";
import { root } from "./workspace.ts";

/** The day in UTC, and the commit, that results are of. */
export interface Recording {
  readonly date: string;
  readonly commit: string;
}

/** What a host has passed. */
export interface HostResult {
  /** The last run of all its cases. */
  readonly recorded?: Recording;
  /** The last run of some of its cases since then. */
  readonly partly?: Recording;
  /** The names of the cases that it has passed, by group. */
  readonly passed: Readonly<Record<string, readonly string[]>>;
}

/** The results by the names of hosts. `proofs/hosts.ts --record` writes them. */
export type HostResults = Readonly<Record<string, HostResult>>;

const path = join(root, "docs/hosts-results.json");

export const readHostResults = (): HostResults => JSON.parse(readFileSync(path, "utf8"));

/** The suite on a host of this repository, to be read and not to be run. */
export function suiteOf({ name, cannot }: (typeof knownHosts)[number]): readonly HostCase[] {
  return hostConformance({ name, cannot, prepare: () => Promise.reject(new Error("Not run here.")) });
}

const groupNames: readonly string[] = [
  ...new Set(knownHosts.flatMap((host) => suiteOf(host).map(({ group }) => group))),
];

export const hasPassed = (results: HostResults, host: string, { group, name }: HostCase): boolean =>
  results[host]?.passed[group]?.includes(name) ?? false;

type Runs = ReadonlyMap<string, ReadonlyMap<string, boolean>>;

/** The results with what was run since: whether a case of a host has passed, by their names. */
export const withRuns = (before: HostResults, runs: Runs, recording: Recording): HostResults =>
  Object.fromEntries(
    knownHosts.map((host) => [
      host.name,
      { ...recordingsOf(before, runs, { host, recording }), passed: passedBy(before, runs, host) },
    ]),
  );

function passedBy(before: HostResults, runs: Runs, host: (typeof knownHosts)[number]): HostResult["passed"] {
  const cases = suiteOf(host).filter(
    (found) => runs.get(host.name)?.get(found.name) ?? hasPassed(before, host.name, found),
  );
  return Object.fromEntries(
    groupNames.map((group) => [
      group,
      cases.filter((found) => found.group === group).map(({ name }) => name),
    ]),
  );
}

function recordingsOf(
  before: HostResults,
  runs: Runs,
  { host, recording }: { readonly host: (typeof knownHosts)[number]; readonly recording: Recording },
): Omit<HostResult, "passed"> {
  const { recorded, partly } = before[host.name] ?? {};
  const ran = runs.get(host.name);
  const isWhole = suiteOf(host).every(({ name, reason }) => reason !== undefined || ran?.has(name) === true);
  if (isWhole) return { recorded: recording };
  const last = ran === undefined || ran.size === 0 ? partly : recording;
  return { ...(recorded && { recorded }), ...(last && { partly: last }) };
}

/** The recording of what is run now. Without the results themselves, files that differ from the commit are a change of it. */
export function recordingOfToday(): Recording {
  const git = (...args: readonly string[]): string =>
    execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
  const commit = git("rev-parse", "--short=8", "HEAD");
  const changed = git("status", "--porcelain", "--", ".", ":!docs/hosts-results.json", ":!docs/hosts.md");
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: changed === "" ? commit : `${commit} with changes`,
  };
}

export function writeHostResults(results: HostResults): void {
  writeFileSync(path, `${JSON.stringify(results, null, 2)}\n`);
}
