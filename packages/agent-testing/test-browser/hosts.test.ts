import { join } from "node:path";
import { memoryLogStorage } from "@moora/event-log/testing";
import { TestBrowser } from "@moora/testbed/browser";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hostConformance, logHost } from "../src/hosts.ts";

let browser: TestBrowser;
let page: Page;

beforeAll(async () => {
  browser = await TestBrowser.start({
    scripts: {
      page: join(import.meta.dirname, "case-page.ts"),
      worker: join(import.meta.dirname, "case-worker.ts"),
    },
  });
  page = await browser.open();
});

afterAll(async () => browser[Symbol.asyncDispose]());

describe("an agent in a worker of Chromium, on the IndexedDB log", () => {
  it.each(hostConformance(logHost("IndexedDB", () => memoryLogStorage())))(
    "$group: $name",
    async ({ name }) => {
      expect(await page.evaluate((wanted) => runInWorker(wanted), name)).toBe("");
    },
  );
});
