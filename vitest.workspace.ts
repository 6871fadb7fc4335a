import { existsSync, readdirSync } from "node:fs";
import type { TestProjectConfiguration } from "vitest/config";

const setup = "test/global-setup.ts";

const node = (name: string, root: string): TestProjectConfiguration => ({
  extends: true,
  test: {
    name,
    root,
    environment: "node",
    include: ["test/**/*.test.{ts,tsx}"],
    ...(existsSync(`${root}/${setup}`) ? { globalSetup: [`${root}/${setup}`] } : {}),
  },
});

/** The test projects: every package, the examples and the workspace's own rules. `vitest.config.ts` reads this list. */
const projects: TestProjectConfiguration[] = [
  ...readdirSync(`${import.meta.dirname}/packages`)
    .filter((name) => existsSync(`${import.meta.dirname}/packages/${name}/test`))
    .map((name) => node(name, `${import.meta.dirname}/packages/${name}`)),
  node("workspace", import.meta.dirname),
];

export default projects;
