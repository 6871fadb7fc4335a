import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, inject, it } from "vitest";
import { createDatabase } from "@moora/testbed/postgres/database";

const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");
const fences = [...readme.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code = ""]) => code);

it("the example of the README appends a record and is notified of it", async () => {
  const url = await createDatabase(inject("postgresUrl"));
  const child = spawn(
    process.execPath,
    ["--conditions=@moora/source", "--input-type=module-typescript", "--eval", fences[0] ?? ""],
    {
      cwd: join(import.meta.dirname, ".."),
      env: { ...process.env, DATABASE_URL: url },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  const lines = output.trim().split("\n");
  expect(code).toBe(0);
  expect(fences).toHaveLength(1);
  expect(lines).toContain("the log ends at 1");
  expect(lines).toContain("there may be new records");
});
