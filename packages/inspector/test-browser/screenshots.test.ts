import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { differenceOf, images, launchPainter, takeScreenshots } from "./screenshots.ts";

/** The part of the pixels that another version of Chromium may paint in another way. */
const tolerance = 0.005;

describe("the pictures of the documentation", () => {
  const folder = mkdtempSync(join(tmpdir(), "moora-screenshots-"));
  let browser: Browser;
  let paths: readonly string[] = [];
  beforeAll(async () => {
    browser = await launchPainter();
    paths = await takeScreenshots(browser, folder);
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  it("have their sizes", () => {
    const sizes = paths.map((path) => {
      const png = readFileSync(path);
      return [basename(path), png.readUInt32BE(16), png.readUInt32BE(20)];
    });
    expect(sizes).toEqual([
      ["inspector-light.png", 1_280, 800],
      ["inspector-dark.png", 1_280, 800],
      ["inspector-small.png", 400, 800],
    ]);
  });

  it("show the page as it is now: otherwise take them again with screenshots.ts", async () => {
    const [light = "", dark = ""] = paths;
    expect(await differenceOf(browser, light, dark)).toBeGreaterThan(0.5);
    for (const path of paths) {
      const committed = join(images, basename(path));
      expect(await differenceOf(browser, path, committed), basename(path)).toBeLessThan(tolerance);
    }
  });
});
