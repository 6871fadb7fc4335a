import type { UserConfig } from "tsdown";
import { library } from "../../tsdown.shared.ts";

const config: UserConfig = library({
  platform: "node",
  entry: { index: "src/index.ts", node: "src/node.ts" },
});

export default config;
