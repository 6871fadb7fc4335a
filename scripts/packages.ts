/** Builds every package, packs it as it would be published, and has the pack examined. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { runSteps } from "./run-steps.ts";
import { manifestOf, packageNames, root } from "./workspace.ts";

const packs = join(root, ".pack");
rmSync(packs, { recursive: true, force: true });
mkdirSync(packs);

const packOf = (name: string): string => {
  const { name: published, version } = manifestOf(name);
  return join(packs, `${published.replace("@", "").replace("/", "-")}-${version}.tgz`);
};

runSteps(
  packageNames.flatMap((name) => [
    {
      name: `build ${name}`,
      command: "pnpm",
      args: ["--silent", "--filter", `./packages/${name}`, "run", "build"],
    },
    {
      name: `pack ${name}`,
      command: "pnpm",
      args: ["--silent", "-C", `packages/${name}`, "pack", "--pack-destination", packs],
    },
    { name: `publint ${name}`, command: "publint", args: [packOf(name)] },
    {
      name: `types of ${name}`,
      command: "attw",
      args: [packOf(name), "--profile", "esm-only", "-f", "table-flipped"],
    },
  ]),
);
