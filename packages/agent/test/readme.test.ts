import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defaultAgentConfig } from "@moora/agent-core-state-machine";
import { expect, it } from "vitest";

it("the README lists every field of the configuration", () => {
  const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");
  const [, section = ""] = /^## Configuration$(.*?)^## /ms.exec(readme) ?? [];
  const missing = Object.keys(defaultAgentConfig).filter((field) => !section.includes(`\`${field}\``));
  expect(missing).toEqual([]);
});
