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
    plugins: [pureInitializers(), declarationsWithoutMaps()],
    inputOptions: { experimental: { nativeMagicString: true } },
    ...extra,
  });

/** Declarations are packed without maps, so they name none. */
const declarationsWithoutMaps = (): Rolldown.Plugin => ({
  name: "moora:declarations-without-maps",
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle))
      if (file.type === "chunk" && file.fileName.endsWith(".d.ts"))
        file.code = file.code.replace(/\n\/\/# sourceMappingURL=\S+\s*$/, "\n");
  },
});
