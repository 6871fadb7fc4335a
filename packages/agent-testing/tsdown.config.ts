import type { UserConfig } from "tsdown";
import { disposableTypes, library } from "../../tsdown.shared.ts";

const config: UserConfig = library({
  platform: "node",
  banner: disposableTypes,
  entry: {
    index: "src/index.ts",
    dialects: "src/dialects.ts",
    hosts: "src/hosts.ts",
  },
});

export default config;
