/**
 * Prints what the repository weighs: the code lines of each package, the lines of tests and tools, the words of documentation. Fails if a
 * number is above its budget in `scripts/budgets.json`: a change that needs more removes some elsewhere, or raises the budget and says why.
 *
 *   weight.ts [COMMIT]
 *
 * A code line is a line of `src` that is neither blank, nor a comment, nor part of an import. With COMMIT, a third number is the
 * difference to it.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import budgetsByName from "./budgets.json" with { type: "json" };
import { packageNames, root } from "./workspace.ts";

type Files = ReadonlyMap<string, string>;

/** One line of the report: what is counted in which files. */
interface Row {
  readonly name: string;
  readonly matches: RegExp;
  readonly count: (text: string) => number;
}

/** Counts the lines that are neither blank, nor a comment, nor part of an import. */
function codeLinesOf(text: string): number {
  const withoutComments = text.replaceAll(/^\s*\/\*[^]*?\*\/\s*$/gm, "").replaceAll(/^\s*\/\/.*$/gm, "");
  const withoutImports = withoutComments.replaceAll(/^import\b[^;]*;$/gm, "");
  return withoutImports.split("\n").filter((line) => line.trim() !== "").length;
}

const budgets: Readonly<Record<string, number>> = budgetsByName;

const linesOf = (text: string): number => text.split("\n").length - 1;
const wordsOf = (text: string): number => text.split(/\s+/).filter((word) => word !== "").length;

const rows: readonly Row[] = [
  ...packageNames.map((name) => ({
    name,
    matches: new RegExp(`^packages/${name}/src/.*\\.tsx?$`),
    count: codeLinesOf,
  })),
  { name: "all packages", matches: /^packages\/[^/]+\/src\/.*\.tsx?$/, count: codeLinesOf },
  { name: "files of all packages", matches: /^packages\/[^/]+\/src\/.*\.tsx?$/, count: () => 1 },
  { name: "tests of packages", matches: /^packages\/[^/]+\/test.*\.tsx?$/, count: linesOf },
  {
    name: "proofs, bench, testbed, scripts",
    matches: /^(proofs|bench|testbed|scripts)\/.*\.ts$/,
    count: linesOf,
  },
  {
    name: "words of documentation",
    matches: /^(?!docs\/decisions\/|bench\/|corpus\/|api\/).*\.md$/,
    count: wordsOf,
  },
];

const git = (args: readonly string[], input = ""): Buffer =>
  execFileSync("git", args, { cwd: root, input, maxBuffer: 2 ** 30 });

const isWeighed = (path: string): boolean => rows.some(({ matches }) => matches.test(path));
const pathsOf = (listed: Buffer): readonly string[] => listed.toString().split("\n").filter(isWeighed);

const filesNow = (): Files =>
  new Map(pathsOf(git(["ls-files"])).map((path) => [path, readFileSync(join(root, path), "utf8")]));

function filesOf(commit: string): Files {
  const paths = pathsOf(git(["ls-tree", "-r", "--name-only", commit]));
  const objects = git(["cat-file", "--batch"], paths.map((path) => `${commit}:${path}\n`).join(""));
  let at = 0;
  return new Map(
    paths.map((path) => {
      const from = objects.indexOf("\n", at) + 1;
      const size = Number(objects.toString("utf8", at, from).split(" ")[2]);
      at = from + size + 1;
      return [path, objects.toString("utf8", from, from + size)];
    }),
  );
}

const weigh = (files: Files, { matches, count }: Row): number =>
  [...files].reduce((sum, [path, text]) => sum + (matches.test(path) ? count(text) : 0), 0);

const [commit] = process.argv.slice(2);
const now = filesNow();
const before = commit === undefined ? undefined : filesOf(commit);
console.log(`${"".padEnd(32)}${"now".padStart(8)}${"budget".padStart(8)}`);
for (const row of rows) {
  const weight = weigh(now, row);
  const budget = budgets[row.name];
  const change = before === undefined ? "" : String(weight - weigh(before, row)).padStart(8);
  const isOver = budget === undefined || weight > budget;
  if (isOver) process.exitCode = 1;
  console.log(
    `${row.name.padEnd(32)}${String(weight).padStart(8)}${String(budget).padStart(8)}${change}${isOver ? "  too heavy" : ""}`,
  );
}
