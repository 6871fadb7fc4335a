import type { UserConfig } from "tsdown";
import { library, nodeLibrary } from "../../tsdown.shared.ts";

const config: UserConfig[] = [library(), nodeLibrary(["zod/mini", "@moora/agent-webui-protocol"])];

export default config;
