import type { UserConfig } from "tsdown";
import { library, nodeLibrary, sharedChunk } from "../../tsdown.shared.ts";

const config: UserConfig[] = [
  library({
    entry: { index: "src/index.ts", internal: "src/internal.ts" },
    outputOptions: sharedChunk,
  }),
  nodeLibrary({ node: "src/index.ts", "node-internal": "src/internal.ts" }, [
    "zod/mini",
    "@moora/agent-webui-protocol",
  ]),
];

export default config;
