import { defineConfig, type UserConfig } from "tsdown";

/** One ESM library build: JavaScript by rolldown, one declaration file an entry. */
export const library = (extra: UserConfig = {}): UserConfig =>
  defineConfig({
    entry: ["src/index.ts"],
    format: "esm",
    platform: "neutral",
    fixedExtension: false,
    tsconfig: "tsconfig.src.json",
    dts: true,
    sourcemap: true,
    clean: true,
    ...extra,
  });
