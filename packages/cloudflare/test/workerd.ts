import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { afterAll, beforeAll } from "vitest";

const bundles = new Map<string, Promise<string>>();

/** The code of a worker in `workers/`, as it is deployed: one module. */
export const bundleWorker = (name: string): Promise<string> =>
  bundleModule(join(import.meta.dirname, "workers", `${name}.ts`));

/** The code of the worker in a file, as it is deployed: one module. */
export function bundleModule(path: string): Promise<string> {
  const code = bundles.get(path) ?? bundle(path);
  bundles.set(path, code);
  return code;
}

async function bundle(path: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [path],
    bundle: true,
    conditions: ["@moora/source", "workerd", "import"],
    // As the platform's own bundler does.
    define: { "process.env.NODE_ENV": '"production"' },
    format: "esm",
    logLevel: "error",
    mainFields: ["module", "main"],
    platform: "neutral",
    target: "es2024",
    write: false,
  });
  return outputFiles.map(({ text }) => text).join("");
}

export interface WorkerdOptions {
  /** The code of the worker. */
  readonly code: string;
  /** The binding of its objects, and their class. */
  readonly objects: Readonly<Record<string, string>>;
  readonly bindings?: Readonly<Record<string, string>>;
  /** Whether the storage of the objects has the SQLite backend. Default: true. */
  readonly hasSql?: boolean;
  /** The folder in which the storage of the objects is kept. */
  readonly folder: string;
}

/** Starts Cloudflare's runtime with a worker. It listens on a free port of a loopback address. */
export function startWorkerd({
  code,
  objects,
  bindings = {},
  hasSql = true,
  folder,
}: WorkerdOptions): Miniflare {
  return new Miniflare({
    modules: [{ type: "ESModule", path: "worker.js", contents: code }],
    compatibilityDate: "2026-07-01",
    durableObjects: Object.fromEntries(
      Object.entries(objects).map(([binding, className]) => [binding, { className, useSQLite: hasSql }]),
    ),
    durableObjectsPersist: folder,
    bindings: { ...bindings },
    cf: false,
    telemetry: { enabled: false },
  });
}

/** Starts Cloudflare's runtime with a worker in `workers/` before the tests of a file, and ends it after them. */
export function useWorkerd(
  name: string,
  objects: WorkerdOptions["objects"] = { SESSIONS: "Sessions" },
): Pick<Miniflare, "dispatchFetch"> {
  const folder = new StorageFolder();
  let workerd: Miniflare;
  beforeAll(async () => {
    workerd = startWorkerd({ code: await bundleWorker(name), objects, folder: folder.path });
    await workerd.ready;
  });
  afterAll(async () => {
    await workerd.dispose();
    folder[Symbol.dispose]();
  });
  return { dispatchFetch: (...request) => workerd.dispatchFetch(...request) };
}

/** A folder for the storage of objects, removed at the end. */
export class StorageFolder implements Disposable {
  readonly path: string = mkdtempSync(join(tmpdir(), "moora-objects-"));

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
