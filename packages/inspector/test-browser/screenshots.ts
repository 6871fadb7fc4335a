import { launchChromium } from "@moora/testbed/chromium";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { Files } from "./files.ts";
import { sampleSession } from "./sample-session.ts";

/** A picture of the page: its size, its theme, and the position that it shows. */
interface Shot {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly colorScheme: "light" | "dark";
  readonly hash: string;
}

const shots: readonly Shot[] = [
  { name: "inspector-light", width: 1_280, height: 800, colorScheme: "light", hash: "#at=16&tab=graph" },
  { name: "inspector-dark", width: 1_280, height: 800, colorScheme: "dark", hash: "#at=29&tab=request" },
  { name: "inspector-small", width: 400, height: 800, colorScheme: "light", hash: "#at=12&tab=conversation" },
];

/** Takes the pictures of the documentation. Returns their files. */
export async function takeScreenshots(browser: Browser, folder: string): Promise<readonly string[]> {
  using files = new Files();
  const address = await files.page(await sampleSession());
  mkdirSync(folder, { recursive: true });
  const paths: string[] = [];
  for (const { name, width, height, colorScheme, hash } of shots) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme });
    const page = await context.newPage();
    await page.goto(`${address}${hash}`);
    await page.locator(".tabpanel > *").first().waitFor();
    // The canvas is painted in the next frame.
    await page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    );
    const path = join(folder, `${name}.png`);
    await page.screenshot({ path });
    paths.push(path);
    await context.close();
  }
  return paths;
}

if (import.meta.main) {
  const browser = await launchChromium();
  const folder = join(import.meta.dirname, "../../../docs/images");
  for (const path of await takeScreenshots(browser, folder)) console.log(path);
  await browser.close();
}
