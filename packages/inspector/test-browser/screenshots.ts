import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { launchChromium } from "@moora/testbed/chromium";
import type { Browser, Page } from "playwright-core";
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
  { name: "inspector-light", width: 1_280, height: 800, colorScheme: "light", hash: "#at=10&tab=graph" },
  { name: "inspector-dark", width: 1_280, height: 800, colorScheme: "dark", hash: "#at=18&tab=request" },
  { name: "inspector-small", width: 400, height: 800, colorScheme: "light", hash: "#at=8&tab=conversation" },
];

/** The committed pictures. */
export const images = join(import.meta.dirname, "../../../docs/images");

/** The committed descriptions of what the pictures show: their accessibility trees. */
export const descriptions = join(import.meta.dirname, "screenshots");

/** A browser whose pictures depend on the machine as little as possible. */
export const launchPainter = (): Promise<Browser> =>
  launchChromium(["--font-render-hinting=none", "--disable-lcd-text", "--force-color-profile=srgb"]);

const { resolve } = createRequire(import.meta.url);
const fontRule = (name: string, file: string): string =>
  `@font-face { font-family: "${name}"; font-weight: 100 900; src: url(data:font/woff2;base64,${readFileSync(resolve(file)).toString("base64")}) }`;

/** Fonts that do not depend on the machine. */
const fonts = [
  fontRule("Picture", "@fontsource-variable/inter/files/inter-latin-wght-normal.woff2"),
  fontRule(
    "Picture Mono",
    "@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2",
  ),
  ':root { font-family: "Picture", sans-serif !important; --mono: "Picture Mono", monospace !important }',
].join("\n");

/** Opens a page as the pictures show it: with fixed fonts, clock, language and time zone, and without motion. */
async function openPage(browser: Browser, address: string, shot: Shot): Promise<Page> {
  const { width, height, colorScheme, hash } = shot;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    deviceScaleFactor: 1,
    reducedMotion: "reduce",
    locale: "en-US",
    timezoneId: "UTC",
    // The fonts are added to the page, whose policy allows none.
    bypassCSP: true,
  });
  const page = await context.newPage();
  await page.clock.setFixedTime(Date.UTC(2026, 2, 4, 10));
  await page.goto(`${address}${hash}`);
  await page.locator(".tabpanel > *").first().waitFor();
  await page.addStyleTag({ content: fonts });
  await page.evaluate(() => document.fonts.ready);
  // The end of a conversation is where it is with these fonts, and the canvas is painted in the next frame.
  await page.evaluate(async () => {
    for (const list of document.querySelectorAll(".moora-messages")) list.scrollTop = list.scrollHeight;
    for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
  });
  return page;
}

/** A picture of the documentation: its file, and its accessibility tree, which depends neither on fonts nor on the browser. */
export interface Picture {
  readonly name: string;
  readonly path: string;
  readonly description: string;
}

/** Takes the pictures of the documentation. */
export async function takeScreenshots(browser: Browser, folder: string): Promise<readonly Picture[]> {
  using files = new Files();
  const address = await files.page(await sampleSession());
  mkdirSync(folder, { recursive: true });
  const pictures: Picture[] = [];
  for (const shot of shots) {
    const page = await openPage(browser, address, shot);
    const path = join(folder, `${shot.name}.png`);
    await page.screenshot({ path, animations: "disabled", caret: "hide", scale: "css" });
    pictures.push({ name: shot.name, path, description: await describe(page, shot) });
    await page.context().close();
  }
  return pictures;
}

/** The accessibility tree of a page, with all records: the list has elements only for those that its height shows. */
async function describe(page: Page, { width }: Shot): Promise<string> {
  await page.setViewportSize({ width, height: 2_400 });
  await page.waitForFunction(() => {
    const list = document.querySelector("[role=listbox]");
    return (
      list === null ||
      list.querySelectorAll("[role=option]").length ===
        Number(list.querySelector("[role=option]")?.ariaSetSize)
    );
  });
  return `${await page.locator("body").ariaSnapshot()}\n`;
}

/** The mean brightness of a picture, from 0 to 255. */
export async function brightnessOf(browser: Browser, path: string): Promise<number> {
  const page = await browser.newPage();
  const url = `data:image/png;base64,${readFileSync(path).toString("base64")}`;
  const brightness = await page.evaluate(async (address) => {
    const image = Object.assign(new Image(), { src: address });
    await image.decode();
    const painter = new OffscreenCanvas(image.width, image.height).getContext("2d");
    painter?.drawImage(image, 0, 0);
    const data = painter?.getImageData(0, 0, image.width, image.height).data ?? new Uint8ClampedArray();
    return data.reduce((sum, value) => sum + value, 0) / data.length;
  }, url);
  await page.close();
  return brightness;
}

if (import.meta.main) {
  const browser = await launchPainter();
  mkdirSync(descriptions, { recursive: true });
  for (const { name, path, description } of await takeScreenshots(browser, images)) {
    writeFileSync(join(descriptions, `${name}.txt`), description);
    console.log(path);
  }
  await browser.close();
}
