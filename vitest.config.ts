import { defaultClientConditions, defaultServerConditions } from "vite";
import { defineConfig } from "vitest/config";
import projects from "./vitest.workspace.ts";

const source = "@moora/source";

export default defineConfig({
  resolve: { conditions: [source, ...defaultClientConditions] },
  ssr: { resolve: { conditions: [source, ...defaultServerConditions] } },
  test: {
    projects,
    execArgv: [`--conditions=${source}`],
    coverage: { provider: "v8", include: ["packages/*/src/**"], reporter: ["text", "json-summary"] },
  },
});
