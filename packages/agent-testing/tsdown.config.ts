import type { UserConfig } from "tsdown";
import { library } from "../../tsdown.shared.ts";

const config: UserConfig = library({
  platform: "node",
  entry: {
    index: "src/index.ts",
    adapter: "src/adapter.ts",
    dialects: "src/dialects.ts",
    vitest: "src/vitest.ts",
  },
});

export default config;
