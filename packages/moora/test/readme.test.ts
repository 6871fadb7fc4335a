import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { optionNames } from "../src/cli/options.ts";
import { providers } from "../src/cli/providers.ts";

const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");

describe("the README of the package", () => {
  it.each(optionNames.filter((name) => name !== "help" && name !== "version"))(
    "names the option --%s",
    (name) => {
      expect(readme).toContain(`--${name}`);
    },
  );

  it.each(providers)("names the provider $name", ({ name }) => {
    expect(readme).toMatch(new RegExp(`\\b${name}\\b`));
  });
});
