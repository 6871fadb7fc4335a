import { spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { consumers, installPacks } from "../../scripts/install-packs.ts";
import { packageNames, packOf, root } from "../../scripts/workspace.ts";

/** Whether every package has a pack that is newer than its sources. */
function arePacksCurrent(): boolean {
  return packageNames.every((name) => {
    const pack = packOf(name);
    if (!existsSync(pack)) return false;
    const { mtimeMs } = statSync(pack);
    return globSync(["package.json", "tsdown.config.ts", "src/**/*.ts"], {
      cwd: join(root, "packages", name),
    }).every((file) => statSync(join(root, "packages", name, file)).mtimeMs < mtimeMs);
  });
}

/** Builds and packs the packages as `pnpm run packages` does, unless that was done after their last change. */
function buildPacks(): void {
  if (arePacksCurrent()) return;
  console.error("Building and packing the packages.");
  const { status } = spawnSync(process.execPath, [join(root, "scripts/packages.ts")], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0) throw new Error("The packages cannot be built. Run: pnpm run packages");
}

/**
 * Installs the packs into the project that depends on all of them, and copies the benchmarks there, so that they import
 * what applications import. Returns the folder of the copy.
 */
export function installBenchmarks(): string {
  buildPacks();
  installPacks();
  const copy = join(consumers, "full", "bench");
  rmSync(copy, { recursive: true, force: true });
  cpSync(join(root, "bench"), copy, { recursive: true });
  return copy;
}
