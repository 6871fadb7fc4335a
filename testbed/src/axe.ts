import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A way to look at a page. */
export interface Viewing {
  readonly colorScheme: "light" | "dark";
  readonly width: number;
}

/** Light and dark, on a large and on a small screen. */
export const viewings: readonly Viewing[] = [1_280, 400].flatMap((width) =>
  (["light", "dark"] as const).map((colorScheme) => ({ colorScheme, width })),
);

/** A page for `barriersIn`, of a user who wants no motion. axe is added to it, whatever its policy allows. */
export async function axePage(browser: Browser, { colorScheme, width }: Viewing): Promise<Page> {
  const options: BrowserContextOptions = {
    bypassCSP: true,
    colorScheme,
    reducedMotion: "reduce",
    viewport: { width, height: 800 },
  };
  return await (await browser.newContext(options)).newPage();
}

/** The barriers that axe finds in a page as it is now, its animations that run, and how much it is too wide. */
export async function barriersIn(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(source);
  const found = await page.evaluate<readonly string[]>(
    "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`))",
  );
  const other = await page.evaluate(() => {
    const running = document.getAnimations().filter(({ playState }) => playState === "running");
    const wider = document.documentElement.scrollWidth - innerWidth;
    return [...running.map(() => "an animation runs"), ...(wider > 0 ? [`${wider} pixels too wide`] : [])];
  });
  return [...found, ...other];
}
