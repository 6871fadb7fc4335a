import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TestBrowser } from "@moora/testbed/browser";

/** The server of the tools: counts their runs. None of the first runs ends, so that their tab is closed in the middle of them. */
class ToolServer {
  readonly runs: Record<string, number> = {};
  readonly #allBegan = Promise.withResolvers<void>();

  /** Resolves when each of the three tools has begun. */
  get allBegan(): Promise<void> {
    return this.#allBegan.promise;
  }

  answer(path: string): Promise<string> | string | undefined {
    const [, name] = /^\/tools\/(\w+)$/.exec(path) ?? [];
    if (name === undefined) return undefined;
    const run = (this.runs[name] ?? 0) + 1;
    this.runs[name] = run;
    if (Object.keys(this.runs).length === 3) this.#allBegan.resolve();
    return run === 1 ? new Promise(() => undefined) : `${name} in run ${run}`;
  }
}

let tools: ToolServer;
let browser: TestBrowser;

beforeEach(async () => {
  tools = new ToolServer();
  const script = (name: string): string => join(import.meta.dirname, `${name}.ts`);
  browser = await TestBrowser.start({
    scripts: { page: script("page"), worker: script("worker") },
    answer: (path) => tools.answer(path),
  });
});

afterEach(async () => browser[Symbol.asyncDispose]());

/** After the owner is gone: the other tabs see the rest of the loop, and no tool ran against its policy. */
async function checkTakenOver(viewer: Page): Promise<void> {
  const asked = await viewer.evaluate(() => tab.decide({ outcome: "worked", result: "it was sent" }));
  expect(asked).toBe("mail");
  expect(await viewer.evaluate(() => tab.answer())).toBe("All done.");
  expect(tools.runs).toEqual({ search: 2, pay: 2, mail: 1 });
  expect(await viewer.evaluate(() => tab.report())).toEqual({
    ok: true,
    search: "search in run 2",
    pay: "pay in run 2",
    mail: "it was sent",
  });
}

describe("a session in the IndexedDB log of a browser", () => {
  it.each(["lock", "lease"] as const)(
    "continues in the next tab when the tab that runs it under its %s is closed while tools run",
    async (by) => {
      const first = await browser.open();
      await first.evaluate((how) => tab.run(how), by);
      const second = await browser.open();
      const viewer = await browser.open();
      const takenOver = second.evaluate((how) => tab.run(how), by);
      expect(await viewer.evaluate(() => tab.post("Settle order 7."))).toBe("accepted");
      await tools.allBegan;
      expect(tools.runs).toEqual({ search: 1, pay: 1, mail: 1 });
      await first.close();
      await takenOver;
      await checkTakenOver(viewer);
    },
  );

  it("continues in a new worker when the worker that runs it is terminated while tools run", async () => {
    const page = await browser.open();
    await page.evaluate(() => tab.runInWorker());
    await page.evaluate(() => tab.post("Settle order 7."));
    await tools.allBegan;
    await page.evaluate(() => tab.runInWorker());
    await checkTakenOver(page);
  });
});
