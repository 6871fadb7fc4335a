import type { UserConfig } from "tsdown";
import { library } from "../../tsdown.shared.ts";

const config: UserConfig = library({ entry: { index: "src/index.ts", wire: "src/wire.ts" } });

export default config;
