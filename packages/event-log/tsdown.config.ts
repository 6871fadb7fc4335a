import type { UserConfig } from "tsdown";
import { library } from "../../tsdown.shared.ts";

const config: UserConfig = library({
  platform: "node",
  entry: {
    index: "src/index.ts",
    jsonl: "src/jsonl.ts",
    sqlite: "src/sqlite.ts",
    store: "src/store.ts",
    testing: "src/testing/index.ts",
  },
});

export default config;
