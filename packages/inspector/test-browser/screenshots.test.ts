import { launchChromium } from "@moora/testbed/chromium";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, it } from "vitest";
import { takeScreenshots } from "./screenshots.ts";

it("the pictures of the documentation can be taken", async () => {
  const folder = mkdtempSync(join(tmpdir(), "moora-screenshots-"));
  const browser = await launchChromium();
  const paths = await takeScreenshots(browser, folder);
  const sizes = paths.map((path) => {
    const png = readFileSync(path);
    return [basename(path), png.readUInt32BE(16), png.readUInt32BE(20)];
  });
  expect(sizes).toEqual([
    ["inspector-light.png", 1_280, 800],
    ["inspector-dark.png", 1_280, 800],
    ["inspector-small.png", 400, 800],
  ]);
  await browser.close();
  rmSync(folder, { recursive: true });
});
