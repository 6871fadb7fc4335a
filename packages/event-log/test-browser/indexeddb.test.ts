import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { TestBrowser } from "@moora/testbed/browser";
import { everything } from "@moora/testbed/stores";
import { logConformance } from "../src/testing/index.ts";

let browser: TestBrowser;
let page: Page;

beforeAll(async () => {
  browser = await TestBrowser.start({
    scripts: { page: join(import.meta.dirname, "conformance-page.ts") },
  });
  page = await browser.open();
});

afterAll(async () => browser[Symbol.asyncDispose]());

/** Runs a case in the page; the error of the page rejects the call. */
const checkInPage = (name: string): Promise<void> =>
  page.evaluate(([wanted, abilities]) => runCase(wanted, abilities), [name, everything] as const);

describe("(B13) the indexeddb log in Chromium", () => {
  it.each(logConformance(everything))("$name", async ({ name }) => checkInPage(name));
});
