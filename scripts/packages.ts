/** Builds every package, packs it as it would be published, and has the pack examined. */
import { mkdirSync, rmSync } from "node:fs";
import { runSteps } from "./run-steps.ts";
import { packageNames, packOf, packs } from "./workspace.ts";

rmSync(packs, { recursive: true, force: true });
mkdirSync(packs);

await runSteps(
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
