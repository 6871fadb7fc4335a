import type { UserConfig } from "tsdown";
import { library } from "../../tsdown.shared.ts";

const config: UserConfig = library({
  entry: { index: "src/index.ts", internal: "src/internal.ts" },
});

export default config;
