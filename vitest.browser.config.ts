import { defineConfig } from "vitest/config";

const source = "@moora/source";

/** The tests in a real browser: `pnpm run test:browser`. */
export default defineConfig({
  resolve: { conditions: [source] },
  ssr: { resolve: { conditions: [source, "node", "import"] } },
  test: {
    environment: "node",
    include: ["test/browser/**/*.browser.ts"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    execArgv: [`--conditions=${source}`],
  },
});
