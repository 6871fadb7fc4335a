import { builtinModules } from "node:module";
import { join } from "node:path";
import { build } from "vite";

/** The root of the workspace. */
export const root: string = join(import.meta.dirname, "../..");

export interface BundleOptions {
  /** Paths of modules, by the names of their files in the bundle. */
  readonly entries: Readonly<Record<string, string>>;
  readonly folder: string;
  /** For an engine without Node's modules: nothing is left outside. */
  readonly isForBrowser?: boolean;
}

/** Bundles modules of the workspace from their sources, with everything that they import, so that they start quickly. */
export async function bundled({ entries, folder, isForBrowser = false }: BundleOptions): Promise<void> {
  const surroundings = isForBrowser ? ["browser"] : ["node"];
  await build({
    root,
    configFile: false,
    logLevel: "error",
    resolve: { conditions: ["@moora/source", "module", ...surroundings, "default"] },
    ...(isForBrowser
      ? {}
      : {
          ssr: {
            noExternal: true,
            resolve: { conditions: ["@moora/source", "module", "node", "default"] },
          },
        }),
    build: {
      ...(isForBrowser ? {} : { ssr: true }),
      outDir: folder,
      emptyOutDir: false,
      minify: false,
      modulePreload: false,
      target: "es2022",
      rollupOptions: {
        input: entries,
        external: isForBrowser ? [] : [...builtinModules, /^node:/, "pg-native"],
        preserveEntrySignatures: "strict",
        output: { format: "es", entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" },
      },
    },
  });
}
