import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  brightnessOf,
  descriptions,
  images,
  launchPainter,
  takeScreenshots,
  type Picture,
} from "./screenshots.ts";

/** The width and the height of a PNG file. */
const sizeOf = (path: string): readonly number[] => {
  const png = readFileSync(path);
  return [png.readUInt32BE(16), png.readUInt32BE(20)];
};

describe("the pictures of the documentation", () => {
  const folder = mkdtempSync(join(tmpdir(), "moora-screenshots-"));
  let browser: Browser;
  let pictures: readonly Picture[] = [];
  beforeAll(async () => {
    browser = await launchPainter();
    pictures = await takeScreenshots(browser, folder);
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  it("have their sizes, the committed ones as well", () => {
    const sizes = {
      "inspector-light": [1_280, 800],
      "inspector-dark": [1_280, 800],
      "inspector-small": [400, 800],
    };
    const sizesOf = (find: (picture: Picture) => string) =>
      Object.fromEntries(pictures.map((picture) => [picture.name, sizeOf(find(picture))]));
    expect(sizesOf(({ path }) => path)).toEqual(sizes);
    expect(sizesOf(({ name }) => join(images, `${name}.png`))).toEqual(sizes);
  });

  it("are bright in the light theme, and dark in the dark one, the committed ones as well", async () => {
    for (const of of [folder, images]) {
      expect(await brightnessOf(browser, join(of, "inspector-light.png"))).toBeGreaterThan(200);
      expect(await brightnessOf(browser, join(of, "inspector-dark.png"))).toBeLessThan(110);
    }
  });

  it("show the page as it is now: otherwise take them again with screenshots.ts", () => {
    for (const { name, description } of pictures)
      expect(description, name).toBe(readFileSync(join(descriptions, `${name}.txt`), "utf8"));
  });
});
