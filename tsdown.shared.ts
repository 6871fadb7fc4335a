import { defineConfig, type Rolldown, type UserConfig } from "tsdown";
import { pureInitializers } from "./scripts/pure-initializers.ts";

/** One ESM library build: JavaScript with a source map, and one declaration file for each entry. */
export const library = (extra: UserConfig = {}): UserConfig =>
  defineConfig({
    entry: ["src/index.ts"],
    format: "esm",
    platform: "neutral",
    fixedExtension: false,
    tsconfig: "tsconfig.src.json",
    dts: { sourcemap: false },
    sourcemap: true,
    clean: true,
    // Each package is packed with the changelog of all.
    copy: [{ from: "../../CHANGELOG.md", to: "." }],
    plugins: [pureInitializers(), declarationsWithoutMaps()],
    inputOptions: { experimental: { nativeMagicString: true } },
    ...extra,
  });

/**
 * Puts all code that several entries share into one chunk, in the order of its modules: bundles of it compress better than
 * those of a chunk for each set of entries.
 */
export const sharedChunk = {
  codeSplitting: { groups: [{ name: "shared", test: /\/src\/.*(?<!\.d)\.ts$/ }] },
} as const satisfies UserConfig["outputOptions"];

/**
 * The first statement of files that only Node loads: an older release fails at import with a clear message, and not in the
 * middle of a run with a missing function.
 */
export const nodeCheck = {
  js: 'if (typeof Promise.withResolvers !== "function")\n\tthrow new Error(`Moora needs Node 22.13 or newer, this is Node ${process.versions.node}.`);',
} as const;

/** The first line of declarations with `Symbol.asyncDispose`: without it, a project would need this library in its `lib`. */
export const disposableTypes = { dts: '/// <reference lib="esnext.disposable" />' } as const;

/**
 * The same library for Node, under other names, with the used parts of some packages inside. Node loads a package as a
 * whole, where a bundler takes only the used parts: of `zod/mini` that is a tenth, and the rest takes Node 40 ms.
 */
export const nodeLibrary = (
  entry: Readonly<Record<string, string>>,
  packages: readonly string[],
): UserConfig =>
  library({
    entry: { ...entry },
    platform: "node",
    banner: {
      js: `// Contains parts of ${packages.join(" and ")}; their licenses are in these packages.\n${nodeCheck.js}`,
    },
    dts: false,
    clean: false,
    outputOptions: sharedChunk,
    deps: { alwaysBundle: [...packages], onlyBundle: false },
    inputOptions: {
      experimental: { nativeMagicString: true },
      resolve: { conditionNames: ["@moora/source", "import", "default"] },
    },
  });

/** Declarations are packed without maps, so they name none. */
const declarationsWithoutMaps = (): Rolldown.Plugin => ({
  name: "moora:declarations-without-maps",
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type === "chunk" && file.fileName.endsWith(".d.ts"))
        file.code = file.code.replace(/\n\/\/# sourceMappingURL=\S+\s*$/, "\n");
    }
  },
});
