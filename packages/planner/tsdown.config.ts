import type { UserConfig } from "tsdown";
import { library } from "../../tsdown.shared.ts";

const config: UserConfig = library({ entry: { index: "src/index.ts", "piped-input": "src/piped-input.ts" } });

export default config;
