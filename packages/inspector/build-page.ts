import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build, transform } from "esbuild";
import type { PageParts } from "./src/page-parts.ts";

const source = join(import.meta.dirname, "src");

/** The packages whose code the page contains. */
const license =
  "/* Contains parts of preact, @preact/signals, marked, zod and @noble/hashes (MIT); see their packages. */\n";

/** Builds the script, the worker and the style of the page from their sources. */
export async function buildPage(): Promise<PageParts> {
  const [script, worker, style] = await Promise.all([
    bundled("app/main.tsx"),
    bundled("worker/main.ts"),
    minifiedStyle(),
  ]);
  return { script, worker, style, scriptHash: hashOf(script), styleHash: hashOf(style) };
}

async function bundled(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(source, entry)],
    bundle: true,
    write: false,
    minify: true,
    format: "iife",
    platform: "browser",
    target: "es2023",
    jsx: "automatic",
    jsxImportSource: "preact",
    // The components of `@moora/react` are made of Preact.
    alias: { react: "preact/compat", "preact/jsx-runtime": "preact/jsx-runtime" },
    absWorkingDir: import.meta.dirname,
    conditions: ["@moora/source"],
    // No comment of a license may end the script.
    legalComments: "none",
    logLevel: "error",
  });
  return license + (outputFiles[0]?.text ?? "");
}

/** The style of the page, of the components, and of what the page makes of them: each goes before the one ahead of it. */
async function minifiedStyle(): Promise<string> {
  const [page, start] = ["style", "start"].map((name) =>
    readFileSync(join(source, `app/${name}.css`), "utf8"),
  );
  const components = readFileSync(new URL(import.meta.resolve("@moora/react/components.css")), "utf8");
  const { code } = await transform(`@layer page { ${page} }\n${components}\n${start}`, {
    loader: "css",
    minify: true,
    // `light-dark()` stays as it is.
    target: "es2024",
  });
  return code;
}

/** The source expression of a policy for an inline script or style. */
const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
