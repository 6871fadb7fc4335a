import type { UserConfig } from "tsdown";
import { library } from "../../tsdown.shared.ts";

const config: UserConfig = library({ platform: "node" });

export default config;
