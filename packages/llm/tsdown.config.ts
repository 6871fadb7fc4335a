import type { UserConfig } from "tsdown";
import { library } from "../../tsdown.shared.ts";

const config: UserConfig = library({ entry: { index: "src/index.ts", testing: "src/testing/index.ts" } });

export default config;
