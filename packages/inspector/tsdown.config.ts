import type { Rolldown, UserConfig } from "tsdown";
import { buildPage } from "./build-page.ts";
import { library } from "../../tsdown.shared.ts";

/** Replaces the module that builds the page by one that contains it. */
const withBuiltPage = (): Rolldown.Plugin => ({
  name: "moora:built-page",
  async load(id) {
    if (!id.endsWith("/src/built-page.ts")) return undefined;
    return `const parts = ${JSON.stringify(await buildPage())};\nexport const builtPage = () => Promise.resolve(parts);\n`;
  },
});

const base = library();

const config: UserConfig = { ...base, plugins: [base.plugins, withBuiltPage()] };

export default config;
