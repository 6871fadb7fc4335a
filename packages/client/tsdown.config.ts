import type { UserConfig } from "tsdown";
import { disposableTypes, library } from "../../tsdown.shared.ts";

const config: UserConfig = library({ banner: disposableTypes });

export default config;
