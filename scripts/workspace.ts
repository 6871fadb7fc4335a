import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The folder of the repository. */
export const root: string = join(import.meta.dirname, "..");

/** Where the tarballs are that `scripts/packages.ts` makes. */
export const packs: string = join(root, ".pack");

/** The fields of a manifest that the workspace's rules look at. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly publishConfig?: { readonly exports?: Readonly<Record<string, unknown>> };
  readonly sideEffects?: boolean;
  readonly type?: string;
  readonly license?: string;
  readonly author?: string;
  readonly homepage?: string;
  readonly bugs?: unknown;
  readonly repository?: unknown;
  readonly engines?: unknown;
  readonly files?: readonly string[];
}

/** The folders below `packages`, in order of name. */
export const packageNames: readonly string[] = readdirSync(join(root, "packages")).toSorted();

/** The manifest in a file. Its form is checked by the package manager. */
export const manifestAt = (file: string): Manifest =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  JSON.parse(readFileSync(file, "utf8")) as Manifest;

/** The manifest of a folder below `packages`. */
export const manifestOf = (name: string): Manifest =>
  manifestAt(join(root, "packages", name, "package.json"));

/** The tarball of a package. */
export function packOf(name: string): string {
  const { name: published, version } = manifestOf(name);
  return join(packs, `${published.replace("@", "").replace("/", "-")}-${version}.tgz`);
}

/** The files that people write, tracked or new: sources and pages. The API reports are generated from sources. */
export const writtenFiles = (): readonly string[] =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  })
    .split("\n")
    .filter(
      (file) => /\.(?:ts|tsx|md)$/.test(file) && !file.startsWith("api/") && existsSync(join(root, file)),
    );
