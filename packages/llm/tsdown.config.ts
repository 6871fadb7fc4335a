import type { UserConfig } from "tsdown";
import { library } from "../../tsdown.shared.ts";

const config: UserConfig = library({
  entry: {
    index: "src/index.ts",
    adapter: "src/adapter.ts",
    internal: "src/internal.ts",
    testing: "src/testing/index.ts",
  },
});

export default config;
