import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import { root } from "../../scripts/workspace.ts";
import type { Change } from "./fault.ts";

/** A copy of the workspace that can be harmed: its packages import one another's copies. */
export interface TreeCopy extends Disposable {
  readonly path: string;
  /** Makes changes while `use` runs, and takes them back. */
  withChanges<Result>(changes: readonly Change[], use: () => Promise<Result>): Promise<Result>;
}

export function copyTree(): TreeCopy {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "seeded-faults-")));
  for (const file of sourceFiles()) {
    mkdirSync(dirname(join(path, file)), { recursive: true });
    copyFileSync(join(root, file), join(path, file));
  }
  for (const folder of [
    "",
    "testbed",
    ...readdirSync(join(root, "packages")).map((name) => join("packages", name)),
  ])
    linkModules(join(root, folder, "node_modules"), join(path, folder, "node_modules"), path);
  return {
    path,
    async withChanges(changes, use) {
      const before = new Map<string, string>();
      try {
        for (const change of changes) {
          const file = join(path, change.file);
          const text = readFileSync(file, "utf8");
          if (!before.has(file)) before.set(file, text);
          writeFileSync(file, changed(text, change));
        }
        return await use();
      } finally {
        for (const [file, text] of before) writeFileSync(file, text);
      }
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** The files of the tree as it stands, with those that are not yet recorded. */
const sourceFiles = (): readonly string[] =>
  spawnSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  })
    .stdout.split("\0")
    .filter((file) => file !== "" && existsSync(join(root, file)));

/** Links of a folder of modules, made anew: to a package of the workspace, its copy; to any other, itself. */
function linkModules(from: string, to: string, copy: string): void {
  if (!existsSync(from)) return;
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (entry.name.startsWith(".")) continue;
    const source = join(from, entry.name);
    if (entry.name.startsWith("@") && entry.isDirectory()) linkModules(source, join(to, entry.name), copy);
    else symlinkSync(copied(realpathSync(source), copy), join(to, entry.name));
  }
}

function copied(target: string, copy: string): string {
  const inTree = relative(realpathSync(root), target);
  const isOurs = !inTree.startsWith("..") && !inTree.split(sep).includes("node_modules");
  return isOurs ? join(copy, inTree) : target;
}

/** Throws where the source is no longer what the fault was made for. */
function changed(source: string, { file, text, replacement }: Change): string {
  const count = source.split(text).length - 1;
  if (count !== 1)
    throw new RangeError(`${file} has this text ${count} times, so the fault has to be made anew: ${text}`);
  return source.replace(text, () => replacement);
}
