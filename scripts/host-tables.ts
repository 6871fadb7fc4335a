import type { HostCase } from "@moora/agent-testing/hosts";
import { knownHosts, type KnownHost } from "@moora/testbed/hosts";
import {
  groupNames,
  hasPassed,
  suiteOf,
  type HostResult,
  type HostResults,
  type Recording,
} from "./host-results.ts";

/** A page with the tables of hosts and cases between its markers. A number is that of the cases that the results have. */
export const hostTables = (page: string, results: HostResults): string =>
  page.replace(
    /(<!-- hosts and cases -->\n)[^]*?(<!-- end -->)/,
    (_, begin: string, end: string) => `${begin}\n${casesTable(results)}\n${reasons()}\n${end}`,
  );

function casesTable(results: HostResults): string {
  const header = ["", ...knownHosts.map(({ name, test }) => `[${name}](../${test})`)];
  const rows = groupNames.map((group) => [
    group,
    ...knownHosts.map((host) => {
      const cases = suiteOf(host).filter((found) => found.group === group);
      const passed = cases.filter((found) => hasPassed(results, host.name, found)).length;
      return passed === cases.length ? String(passed) : `${passed} of ${cases.length}`;
    }),
  ]);
  return table([header, ...rows, ["recorded", ...knownHosts.map(({ name }) => recordedText(results[name]))]]);
}

/** The day and the commit of the results of a host. */
function recordedText({ recorded, partly }: Omit<HostResult, "passed"> = {}): string {
  const text = recorded === undefined ? "never as a whole" : recordingText(recorded);
  return partly === undefined ? text : `${text}; some cases: ${recordingText(partly)}`;
}

const recordingText = ({ date, commit }: Recording): string => `${date}, ${commit}`;

function reasons(): string {
  const rows = knownHosts.flatMap((host) => {
    const left = suiteOf(host).filter(({ reason }) => reason !== undefined);
    const texts = [...new Set(left.map(({ reason = "" }) => reason))];
    return texts.map((text) => [
      host.name,
      shown(
        host,
        left.filter(({ reason }) => reason === text),
      ),
      text,
    ]);
  });
  return table([["host", "cases that it leaves out", "reason"], ...rows]);
}

/** The names of some cases. A group of many that is left out as a whole is one name. */
const shown = (host: KnownHost, left: readonly HostCase[]): string =>
  groupNames
    .flatMap((group) => {
      const names = left.filter((found) => found.group === group).map(({ name }) => `${group}: ${name}`);
      const isWhole = names.length === suiteOf(host).filter((found) => found.group === group).length;
      return isWhole && names.length > 4 ? [`${group}: all ${names.length} cases`] : names;
    })
    .join("; ");

/** Rows as the formatter writes them. */
function table([header = [], ...rows]: readonly (readonly string[])[]): string {
  const widths = header.map((_, column) =>
    Math.max(3, ...[header, ...rows].map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[], fill = " "): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0, fill)).join(" | ")} |\n`;
  return [
    line(header),
    line(
      header.map(() => ""),
      "-",
    ),
    ...rows.map((row) => line(row)),
  ].join("");
}
