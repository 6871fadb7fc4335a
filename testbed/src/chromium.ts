import { existsSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";
import { onPath } from "./on-path.ts";

/** Where Chromium is: where `CHROMIUM_PATH` says, or on the path. Undefined if there is none. */
export function chromiumPath(): string | undefined {
  const named = process.env["CHROMIUM_PATH"];
  if (named !== undefined) return existsSync(named) ? named : undefined;
  return onPath("chromium") ?? onPath("chromium-browser") ?? onPath("google-chrome");
}

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-sync",
  "--disable-background-networking",
  "--disable-component-update",
];

/** What to do where there is no Chromium. */
export const chromiumAdvice =
  "The browser tests need Chromium. Install it (Debian: apt-get install chromium), or set CHROMIUM_PATH to its path.";

/** Starts a headless Chromium, with further flags if they are given. Throws with the way to get it where there is none. */
export async function launchChromium(further: readonly string[] = []): Promise<Browser> {
  const executablePath = chromiumPath();
  if (executablePath === undefined) throw new Error(chromiumAdvice);
  return await chromium.launch({ executablePath, args: [...flags, ...further] });
}
