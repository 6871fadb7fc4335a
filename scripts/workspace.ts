import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const root: string = join(import.meta.dirname, "..");

/** What of a manifest the workspace's rules look at. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly publishConfig?: { readonly exports?: Readonly<Record<string, unknown>> };
  readonly sideEffects?: boolean;
  readonly type?: string;
  readonly license?: string;
  readonly files?: readonly string[];
}

/** The folders below `packages`, in order of name. */
export const packageNames: readonly string[] = readdirSync(join(root, "packages")).toSorted();

/** Manifests are this workspace's own: their form is checked by the package manager. */
export const manifestOf = (name: string): Manifest =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8")) as Manifest;
