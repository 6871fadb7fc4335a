import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { Page, Programs, typeErrors } from "@moora/testbed/page";
import { expect, it } from "vitest";
import { root } from "../scripts/workspace.ts";

/** What the page uses of Next.js, which this workspace does not install. */
const next = `declare module "next/headers" {
  export function cookies(): Promise<{ toString(): string }>;
}`;

/** Next.js resolves imports without endings. */
const project = {
  extends: join(root, "tsconfig.json"),
  compilerOptions: { module: "esnext", moduleResolution: "bundler" },
};

it("the programs of the page about Next.js compile", () => {
  using programs = new Programs();
  const files = new Page("docs/next.md").fences.flatMap(({ info, text }) => {
    const [, file = ""] = /^tsx? file=(\S+)$/.exec(info) ?? [];
    return file === "" ? [] : [{ file, text }];
  });
  for (const { file, text } of [...files, { file: "next.d.ts", text: next }]) {
    mkdirSync(join(programs.path, dirname(file)), { recursive: true });
    programs.write(file, text);
  }
  expect(files.length).toBe(6);
  expect(typeErrors(programs, ["next.d.ts", ...files.map(({ file }) => file)], project)).toBe("");
});
