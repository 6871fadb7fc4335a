import type { UserConfig } from "tsdown";
import { library } from "../../tsdown.shared.ts";

const config: UserConfig = library({ entry: { index: "src/index.ts", "ai-sdk": "src/ai-sdk.ts" } });

export default config;
