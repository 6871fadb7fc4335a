import { execFileSync, type ExecFileSyncOptionsWithStringEncoding } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromiumPath } from "@moora/testbed/chromium";
import { onPath } from "@moora/testbed/on-path";
import type { Answer, Question } from "./fold.ts";

/** Something that runs JavaScript and answers questions about sessions. */
export interface Engine {
  readonly name: string;
  ask(question: Question): Answer;
}

/** An engine that is not there, and why. */
export interface Missing {
  readonly name: string;
  readonly why: string;
}

const most: ExecFileSyncOptionsWithStringEncoding = {
  encoding: "utf8",
  maxBuffer: 256_000_000,
  stdio: ["ignore", "pipe", "pipe"],
};

const parsed = (text: string): Answer => JSON.parse(text);

/** A Node of any version: the question comes by a file, the answer by its output. */
export const nodeEngine = (name: string, executable: string, bundle: string): Engine => ({
  name,
  ask(question) {
    const folder = mkdtempSync(join(tmpdir(), "moora-engine-"));
    try {
      const file = join(folder, "question.json");
      writeFileSync(file, JSON.stringify(question));
      const program = `
        import { readFileSync } from "node:fs";
        await import(${JSON.stringify(pathToFileURL(bundle).href)});
        process.stdout.write(globalThis.moora.answer(readFileSync(${JSON.stringify(file)}, "utf8")));`;
      return parsed(execFileSync(executable, ["--input-type=module", "-e", program], most));
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
});

/** A browser: question and answer are part of a page. Only ASCII, so that no encoding and no parser changes them. */
export const browserEngine = (name: string, executable: string, bundle: string): Engine => ({
  name,
  ask(question) {
    const folder = mkdtempSync(join(tmpdir(), "moora-engine-"));
    try {
      const page = join(folder, "page.html");
      writeFileSync(page, pageOf(readFileSync(bundle, "utf8"), question));
      const flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
      ];
      const profile = `--user-data-dir=${join(folder, "profile")}`;
      const shown = execFileSync(
        executable,
        [...flags, profile, "--dump-dom", pathToFileURL(page).href],
        most,
      );
      const answer = /<pre>(.*)<\/pre>/s.exec(shown)?.[1];
      if (answer === undefined) throw new Error(`The page has no answer: ${shown.slice(-500)}`);
      return parsed(decodeURIComponent(answer));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
});

const ascii = (text: string): string =>
  text.replaceAll(/[<\u007F-\uFFFF]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

const pageOf = (code: string, question: Question): string => `<!doctype html><meta charset="utf-8"><body>
<script type="application/json">${ascii(JSON.stringify(question))}</script>
<script type="module">${code.replaceAll("</script", String.raw`<\/script`)}
const question = document.querySelector("script[type='application/json']").textContent;
const shown = document.createElement("pre");
shown.textContent = encodeURIComponent(globalThis.moora.answer(question));
document.body.replaceChildren(shown);
</script>`;

const versionOf = (executable: string): string =>
  execFileSync(executable, ["--version"], most).trim().replace(/^v/, "");

/** The Node of a major version: installed once, by npm, into a folder of its own. */
export function installedNode(major: number, folder: string, bundle: string): Engine | Missing {
  const name = `Node ${major}`;
  const executable = join(folder, "node_modules/node/bin/node");
  try {
    if (!existsSync(executable)) {
      mkdirSync(folder, { recursive: true });
      const quietly = ["--no-save", "--no-audit", "--no-fund", "--loglevel=error"];
      execFileSync("npm", ["install", "--prefix", folder, ...quietly, `node@${major}`], most);
    }
    return nodeEngine(`Node ${versionOf(executable)}`, executable, bundle);
  } catch (error) {
    return { name, why: `It could not be installed: ${String(error).slice(0, 300)}` };
  }
}

/** The Node of the system. */
export function systemNode(bundle: string): Engine | Missing {
  const executable = onPath("node");
  if (executable === undefined) return { name: "Node of the system", why: "It is not installed." };
  return nodeEngine(`Node ${versionOf(executable)} of the system`, executable, bundle);
}

export function chromium(bundle: string): Engine | Missing {
  const executable = chromiumPath();
  if (executable === undefined)
    return { name: "Chromium", why: "It is not installed; Debian has it as `chromium`." };
  const version = /[\d.]+/.exec(execFileSync(executable, ["--version"], most))?.[0] ?? "";
  return browserEngine(`Chromium ${version}`, executable, bundle);
}
