/** Builds the site: `pnpm run docs`. With `--serve` it serves what was built. Fails for a dead link. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build, serve } from "vitepress";
import { root } from "../../scripts/workspace.ts";
import { apiPages } from "./api.ts";
import { readPages } from "./pages.ts";

const folder = join(root, ".docs/pages");

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

/** How the README installs Moora, and its first program. */
const firstProgram = (): string => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  return ["sh", "ts"]
    .map((info) => new RegExp(`^\`\`\`${info}\n.*?^\`\`\`$`, "ms").exec(readme)?.[0] ?? "")
    .join("\n\n");
};

rmSync(folder, { recursive: true, force: true });
for (const { address, text } of [...readPages(), ...apiPages()]) write(`${address}.md`, text);
write("index.md", `${readFileSync(join(import.meta.dirname, "home.md"), "utf8")}\n${firstProgram()}\n`);
cpSync(join(root, "docs/images"), join(folder, "public/images"), { recursive: true });
await build(join(root, "docs"));
if (process.argv.includes("--serve")) await serve({ root: join(root, "docs") });
