import type { UserConfig } from "tsdown";
import { disposableTypes, library, sharedChunk } from "../../tsdown.shared.ts";

const config: UserConfig = library({
  entry: { index: "src/index.ts", internal: "src/internal.ts" },
  banner: disposableTypes,
  outputOptions: sharedChunk,
});

export default config;
