import { hostConformance } from "@moora/agent-testing/hosts";
import { knownHosts } from "@moora/testbed/hosts";

const results = knownHosts.map(({ name, cannot, test }) => ({
  name,
  test,
  cases: hostConformance({ name, cannot, prepare: () => Promise.reject(new Error("Not run here.")) }),
}));

/** A page with the tables of hosts and cases between its markers. */
export const hostTables = (page: string): string =>
  page.replace(
    /(<!-- hosts and cases -->\n)[^]*?(<!-- end -->)/,
    (_, begin: string, end: string) => `${begin}\n${casesTable()}\n${reasons()}\n${end}`,
  );

const groups = [...new Set(results.flatMap(({ cases }) => cases.map(({ group }) => group)))];

function casesTable(): string {
  const header = ["", ...results.map(({ name, test }) => `[${name}](../${test})`)];
  const rows = groups.map((group) => [
    group,
    ...results.map(({ cases }) => {
      const ofGroup = cases.filter((found) => found.group === group);
      const passed = ofGroup.filter(({ reason }) => reason === undefined).length;
      return passed === ofGroup.length ? String(passed) : `${passed} of ${ofGroup.length}`;
    }),
  ]);
  return table([header, ...rows]);
}

function reasons(): string {
  const rows = results.flatMap(({ name, cases }) => {
    const left = cases.filter(({ reason }) => reason !== undefined);
    const texts = [...new Set(left.map(({ reason = "" }) => reason))];
    return texts.map((text) => [
      name,
      shown(left.filter(({ reason }) => reason === text).map((found) => `${found.group}: ${found.name}`)),
      text,
    ]);
  });
  return table([["host", "cases that it leaves out", "reason"], ...rows]);
}

/** The names of some cases, or of many. */
const shown = (names: readonly string[]): string =>
  names.length > 4 ? `${names.length} cases` : names.join("; ");

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
