import { knownHosts, type KnownHost } from "@moora/testbed/hosts";
import { hasPassed, suiteOf, type HostResult, type HostResults, type Recording } from "./host-results.ts";

/** A page with the table of hosts and cases between its markers. A number is that of the cases that the results have. */
export const hostTables = (page: string, results: HostResults): string =>
  page.replace(
    /(<!-- hosts and cases -->\n)[^]*?(<!-- end -->)/,
    (_, begin: string, end: string) => `${begin}\n${casesTable(results)}\n${end}`,
  );

const casesTable = (results: HostResults): string =>
  table([
    ["host", "cases passed", "recorded"],
    ...knownHosts.map((host) => [
      `[${host.name}](../${host.test})`,
      passedText(host, results),
      recordedText(results[host.name]),
    ]),
  ]);

function passedText(host: KnownHost, results: HostResults): string {
  const cases = suiteOf(host);
  const passed = cases.filter((found) => hasPassed(results, host.name, found)).length;
  return passed === cases.length ? String(passed) : `${passed} of ${cases.length}`;
}

function recordedText({ recorded, partly }: Omit<HostResult, "passed"> = {}): string {
  const text = recorded === undefined ? "never as a whole" : recordingText(recorded);
  return partly === undefined ? text : `${text}; some cases: ${recordingText(partly)}`;
}

const recordingText = ({ date, commit }: Recording): string => `${date}, ${commit}`;

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
