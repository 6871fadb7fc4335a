/**
 * Checks the links of every page. The README of a package is also shown by registries, where a relative link leads
 * nowhere: its links are absolute. Wherever a link leads into this repository, the file has to exist, and the heading too.
 */
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./workspace.ts";

/** The address under which the files of this repository are shown, by their path. */
const repository = /^https:\/\/github\.com\/moora-ai\/moora\/(?:blob|tree)\/main\//;

const pages = globSync(["*.md", "docs/**/*.md", "packages/*/README.md", "examples/*.md", "bench/*.md"], {
  cwd: root,
}).toSorted();

const textOf = (page: string): string =>
  readFileSync(join(root, page), "utf8").replaceAll(/^```.*?^```/gms, "");

const targetsIn = (page: string): readonly string[] =>
  [...textOf(page).matchAll(/\]\(<?([^)\s>]+)>?\)/g)].map(([, target = ""]) => target);

/** The anchors that headings get: small letters, hyphens for blanks, no other punctuation. */
const anchorsIn = (page: string): readonly string[] =>
  [...textOf(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{Letter}\p{Number} _-]/gu, "")
      .replaceAll(" ", "-"),
  );

/** The file of this repository that a target leads to, or undefined for another site. */
function fileOf(page: string, path: string): string | undefined {
  if (path === "") return page;
  if (repository.test(path)) return decodeURI(path.replace(repository, ""));
  return /^[a-z]+:/i.test(path) ? undefined : join(dirname(page), decodeURI(path));
}

/** The page that is shown for a file: its own text, or the README of a folder. */
const shownFor = (file: string): string =>
  statSync(join(root, file)).isDirectory() ? join(file, "README.md") : file;

function problemOf(page: string, target: string): string | undefined {
  const [path = "", anchor] = target.split("#");
  const file = fileOf(page, path);
  if (file === undefined) return undefined;
  const isRelative = path !== "" && !repository.test(path);
  if (isRelative && page.startsWith("packages/")) return "is relative, which a registry cannot follow";
  if (!existsSync(join(root, file))) return "leads to a file that does not exist";
  if (anchor === undefined || !shownFor(file).endsWith(".md")) return undefined;
  return anchorsIn(shownFor(file)).includes(anchor) ? undefined : "leads to a heading that does not exist";
}

for (const page of pages) {
  for (const target of targetsIn(page)) {
    const problem = problemOf(page, target);
    if (problem === undefined) continue;
    console.log(`${page}: the link ${target} ${problem}.`);
    process.exitCode = 1;
  }
}
