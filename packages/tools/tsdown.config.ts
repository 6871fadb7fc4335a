import type { UserConfig } from "tsdown";
import { library, nodeCheck } from "../../tsdown.shared.ts";

const config: UserConfig = library({ platform: "node", banner: nodeCheck });

export default config;
