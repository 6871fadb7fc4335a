import { launchChromium } from "@moora/testbed/chromium";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";

/**
 * Launches a browser for the tests of a suite, and opens a page of 1,280 by 800 pixels before each of them, which `onPage` receives. The page is
 * closed after its test.
 */
export function pageForEach(onPage: (page: Page) => void, options: BrowserContextOptions = {}): void {
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    page = await browser.newPage({ viewport: { width: 1_280, height: 800 }, ...options });
    onPage(page);
  });
  afterEach(() => page.close());
}

/** What a page must not do: throw, report an error, or request anything but itself. */
export interface Watched {
  readonly problems: readonly string[];
  readonly requests: readonly string[];
}

/** Collects the errors and the requests of a page. */
export function watch(page: Page): Watched {
  const problems: string[] = [];
  const requests: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
  });
  page.on("request", (request) => requests.push(request.url()));
  return { problems, requests };
}
