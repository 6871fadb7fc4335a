import type { UserConfig } from "tsdown";
import { library } from "../../tsdown.shared.ts";

const config: UserConfig = library({
  entry: { index: "src/index.ts", "ai-sdk": "src/ai-sdk.ts", components: "src/components.ts" },
  copy: [
    { from: "../../CHANGELOG.md", to: "." },
    { from: "src/components.css", to: "dist" },
    { from: "src/components.css.d.ts", to: "dist" },
  ],
});

export default config;
