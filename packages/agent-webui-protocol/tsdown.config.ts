import type { UserConfig } from "tsdown";
import { library } from "../../tsdown.shared.ts";

const config: UserConfig = library({
  entry: { index: "src/index.ts", "server-sent-events": "src/server-sent-events.ts" },
});

export default config;
