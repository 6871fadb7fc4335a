import type { UserConfig } from "tsdown";
import { library, sharedChunk } from "../../tsdown.shared.ts";

const config: UserConfig = library({
  entry: { index: "src/index.ts", internal: "src/internal.ts" },
  outputOptions: sharedChunk,
});

export default config;
