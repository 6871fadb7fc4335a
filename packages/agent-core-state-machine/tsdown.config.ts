import type { UserConfig } from "tsdown";
import { library, nodeLibrary } from "../../tsdown.shared.ts";

const config: UserConfig[] = [
  library({ entry: { index: "src/index.ts", internal: "src/internal.ts" } }),
  nodeLibrary({ node: "src/index.ts", "node-internal": "src/internal.ts" }, [
    "zod/mini",
    "@moora/agent-webui-protocol",
  ]),
];

export default config;
