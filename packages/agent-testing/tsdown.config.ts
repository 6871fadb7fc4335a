import type { UserConfig } from "tsdown";
import { disposableTypes, library } from "../../tsdown.shared.ts";

const config: UserConfig = library({
  platform: "node",
  banner: disposableTypes,
  entry: {
    index: "src/index.ts",
    adapter: "src/adapter.ts",
    dialects: "src/dialects.ts",
    hosts: "src/hosts.ts",
    vitest: "src/vitest.ts",
  },
});

export default config;
