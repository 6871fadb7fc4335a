import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hostConformance, type HostCase } from "@moora/agent-testing/hosts";
import { knownHosts } from "@moora/testbed/hosts";
import { root } from "./workspace.ts";

/** The names of the cases that each host has passed, by host and group. `proofs/hosts.ts --record` writes them. */
export type HostResults = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

const path = join(root, "docs/hosts-results.json");

export const readHostResults = (): HostResults => JSON.parse(readFileSync(path, "utf8"));

/** The suite on a host of this repository, to be read and not to be run. */
export function suiteOf({ name, cannot }: (typeof knownHosts)[number]): readonly HostCase[] {
  return hostConformance({ name, cannot, prepare: () => Promise.reject(new Error("Not run here.")) });
}

export const groupNames: readonly string[] = [
  ...new Set(knownHosts.flatMap((host) => suiteOf(host).map(({ group }) => group))),
];

export const hasPassed = (results: HostResults, host: string, { group, name }: HostCase): boolean =>
  results[host]?.[group]?.includes(name) ?? false;

/** The results with what was run since: whether a case of a host has passed, by their names. */
export function withRuns(
  before: HostResults,
  runs: ReadonlyMap<string, ReadonlyMap<string, boolean>>,
): HostResults {
  const passedOf = (host: (typeof knownHosts)[number]): HostResults[string] => {
    const cases = suiteOf(host).filter(
      (found) => runs.get(host.name)?.get(found.name) ?? hasPassed(before, host.name, found),
    );
    return Object.fromEntries(
      groupNames.map((group) => [
        group,
        cases.filter((found) => found.group === group).map(({ name }) => name),
      ]),
    );
  };
  return Object.fromEntries(knownHosts.map((host) => [host.name, passedOf(host)]));
}

export function writeHostResults(results: HostResults): void {
  writeFileSync(path, `${JSON.stringify(results, null, 2)}\n`);
}
