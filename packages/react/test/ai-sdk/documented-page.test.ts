import { join } from "node:path";
import { Page, Programs, typeErrors } from "@moora/testbed/page";
import { expect, it } from "vitest";

const files = {
  "chat.tsx": "tsx",
  "alone.tsx": "tsx alone",
  "server.ts": "ts file=server.ts",
  "vite.config.ts": "ts file=vite.config.ts",
};

it("the programs of the page about chats compile", () => {
  using programs = new Programs(import.meta.dirname);
  const page = new Page("docs/chats.md");
  for (const [file, block] of Object.entries(files)) programs.write(file, page.block(block));
  const project = { extends: join(import.meta.dirname, "../../tsconfig.json") };
  expect(typeErrors(programs, Object.keys(files), project)).toBe("");
});
