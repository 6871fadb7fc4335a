import { join } from "node:path";
import { TestBrowser } from "@moora/testbed/browser";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

let browser: TestBrowser;

beforeAll(async () => {
  browser = await TestBrowser.start({ scripts: { page: join(import.meta.dirname, "../browser.ts") } });
});

afterAll(async () => browser[Symbol.asyncDispose]());

describe("the program for browsers", () => {
  it("gives the answer in a tab, and again in the session that the next tab finds", async () => {
    for (const tab of ["first", "second"]) {
      const printed = Promise.withResolvers<string>();
      const page = await browser.open(printed.resolve);
      expect(await printed.promise, tab).toBe("It is -3 degrees in Oslo.");
      await page.close();
    }
  });
});
