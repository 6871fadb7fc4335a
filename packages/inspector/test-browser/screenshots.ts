import { mkdirSync, readFileSync } from "node:fs";
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
  { name: "inspector-light", width: 1_280, height: 800, colorScheme: "light", hash: "#at=16&tab=graph" },
  { name: "inspector-dark", width: 1_280, height: 800, colorScheme: "dark", hash: "#at=29&tab=request" },
  { name: "inspector-small", width: 400, height: 800, colorScheme: "light", hash: "#at=12&tab=conversation" },
];

/** The committed pictures. */
export const images = join(import.meta.dirname, "../../../docs/images");

/** A browser that paints the same glyphs and colors on every machine. */
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
    for (const list of document.querySelectorAll(".messages")) list.scrollTop = list.scrollHeight;
    for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
  });
  return page;
}

/** Takes the pictures of the documentation. Returns their files. */
export async function takeScreenshots(browser: Browser, folder: string): Promise<readonly string[]> {
  using files = new Files();
  const address = await files.page(await sampleSession());
  mkdirSync(folder, { recursive: true });
  const paths: string[] = [];
  for (const shot of shots) {
    const page = await openPage(browser, address, shot);
    const path = join(folder, `${shot.name}.png`);
    await page.screenshot({ path, animations: "disabled", caret: "hide", scale: "css" });
    paths.push(path);
    await page.context().close();
  }
  return paths;
}

/** The part of the pixels of two pictures of one size that differ by more than what smoothing does, from 0 to 1. */
export async function differenceOf(browser: Browser, a: string, b: string): Promise<number> {
  const page = await browser.newPage();
  const urls = [a, b].map((path) => `data:image/png;base64,${readFileSync(path).toString("base64")}`);
  const part = await page.evaluate(async (addresses) => {
    const [one, other] = await Promise.all(
      addresses.map(async (address) => {
        const image = Object.assign(new Image(), { src: address });
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height);
        const painter = canvas.getContext("2d");
        painter?.drawImage(image, 0, 0);
        return painter?.getImageData(0, 0, image.width, image.height);
      }),
    );
    if (one === undefined || other === undefined) return 1;
    if (one.width !== other.width || one.height !== other.height) return 1;
    let different = 0;
    for (let at = 0; at < one.data.length; at += 4) {
      const channels = [0, 1, 2].map((channel) =>
        Math.abs((one.data[at + channel] ?? 0) - (other.data[at + channel] ?? 0)),
      );
      if (Math.max(...channels) > 48) different += 1;
    }
    return different / (one.width * one.height);
  }, urls);
  await page.close();
  return part;
}

if (import.meta.main) {
  const browser = await launchPainter();
  for (const path of await takeScreenshots(browser, images)) console.log(path);
  await browser.close();
}
