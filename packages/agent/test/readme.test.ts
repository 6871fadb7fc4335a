import { readFileSync } from "node:fs";
import { join } from "node:path";
import { configGroups, defaultAgentConfig } from "@moora/agent-core-state-machine";
import { expect, it } from "vitest";

it("the README lists every field of the configuration", () => {
  const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");
  const [, section = ""] = /^## Configuration$(.*?)^## /ms.exec(readme) ?? [];
  const groups = configGroups.flatMap((group) =>
    Object.keys(defaultAgentConfig[group]).map((field) => `${group}.${field}`),
  );
  const others = Object.keys(defaultAgentConfig).filter(
    (field) => !configGroups.some((group) => group === field),
  );
  const missing = [...groups, ...others].filter((field) => !section.includes(`\`${field}\``));
  expect(missing).toEqual([]);
});
