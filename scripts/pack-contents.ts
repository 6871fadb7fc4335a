/** Checks what the packs contain, as they are installed: the pages, and the source maps that the code refers to. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { consumers } from "./install-packs.ts";
import { manifestOf, packageNames } from "./workspace.ts";

const pages = ["CHANGELOG.md", "LICENSE", "README.md"] as const;

function problemsOf(name: string): readonly string[] {
  const folder = join(consumers, "full/node_modules", name);
  const missing = pages.filter((page) => !existsSync(join(folder, page)));
  const dangling = globSync("dist/**/*.{js,ts}", { cwd: folder }).filter((file) => {
    const [, map] = /^\/\/# sourceMappingURL=(\S+)/m.exec(readFileSync(join(folder, file), "utf8")) ?? [];
    return map !== undefined && !existsSync(join(folder, dirname(file), map));
  });
  return [
    ...missing.map((page) => `${name} has no ${page}`),
    ...dangling.map((file) => `${name}/${file} refers to a source map that is not packed`),
  ];
}

for (const problem of packageNames.flatMap((name) => problemsOf(manifestOf(name).name))) {
  console.log(problem);
  process.exitCode = 1;
}
