import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sqliteMemoryStore } from "@moora/event-log/sqlite";
import {
  calculatorTool,
  currentTimeTool,
  fetchUrlTool,
  fileTools,
  loadSkills,
  memoryTools,
} from "../src/index.ts";

const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");

const skills = await loadSkills(join(import.meta.dirname, "../../../examples/skills"));

describe("the README of the package", () => {
  it.each([
    calculatorTool(),
    currentTimeTool(),
    fetchUrlTool(),
    ...fileTools({ root: import.meta.dirname }),
    ...memoryTools(sqliteMemoryStore(":memory:")),
    ...skills.tools,
  ])("names the tool $name and its risk", ({ name, definition }) => {
    const row = readme.split("\n").find((line) => line.startsWith(`| \`${name}\``));
    expect(row).toMatch(new RegExp(`\\| ${definition.risk} +\\|`));
  });
});
