import { join } from "node:path";
import { TestBrowser } from "@moora/testbed/browser";
import { describe, expect, it } from "vitest";

const script = (name: string): string => join(import.meta.dirname, name);

/** The first lines that a new tab prints, as many as are expected. */
async function printed(browser: TestBrowser, count: number): Promise<readonly string[]> {
  const lines: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const page = await browser.open((line) => {
    lines.push(line);
    if (lines.length === count) resolve();
  });
  await promise;
  await page.close();
  return lines;
}

describe("the program for browsers, in a worker", () => {
  it("gives the answer, and again in the session that the worker of the next tab finds", async () => {
    await using browser = await TestBrowser.start({
      scripts: { page: script("worker-page.ts"), worker: script("../browser.ts") },
    });
    for (const tab of ["first", "second"])
      expect(await printed(browser, 1), tab).toEqual(["It is -3 degrees in Oslo."]);
  });
});

describe("the page whose worker runs the session", () => {
  it("posts to it, gets the answer, and leaves the session to the worker of the next tab", async () => {
    await using browser = await TestBrowser.start({
      scripts: { page: script("../browser-page.ts"), worker: script("../browser-worker.ts") },
    });
    for (const tab of ["first", "second"]) {
      const lines = await printed(browser, 2);
      expect(lines.toSorted(), tab).toEqual(["It is -3 degrees in Oslo.", "The worker runs a tool."]);
    }
  });
});
