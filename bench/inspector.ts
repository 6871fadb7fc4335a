/**
 * What the inspector takes in Chromium for a long session.
 *
 *   inspector.ts [--records 100000] [--openings 5] [--steps 200] [--frames 300] [--searches 10]
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { inspectorFile } from "@moora/inspector";
import { launchChromium } from "@moora/testbed/chromium";
import { longSession } from "@moora/testbed/long-session";
import type { Browser, Page } from "playwright-core";
import { table } from "./harness/table.ts";
import {
  dragThrough,
  firstPaint,
  observeLongTasks,
  scrubTo,
  searchFor,
  takeLongTasks,
} from "./inspector/in-page.ts";
import { machineText } from "./packed/machine-text.ts";

const { values } = parseArgs({
  options: {
    records: { type: "string", default: "100000" },
    openings: { type: "string", default: "5" },
    steps: { type: "string", default: "200" },
    frames: { type: "string", default: "300" },
    searches: { type: "string", default: "10" },
  },
});
const records = Number(values.records);
const openings = Number(values.openings);
const steps = Number(values.steps);
const frames = Number(values.frames);
const searches = Number(values.searches);
const openTimeoutMs = 120_000;

const rows: string[][] = [];
const row = (what: string, times: readonly number[]): void => {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number): string => sorted[Math.ceil(sorted.length * part) - 1]?.toFixed(1) ?? "-";
  rows.push([what, String(times.length), at(0.5), at(0.95), at(1)]);
};

const folder = mkdtempSync(join(tmpdir(), "moora-bench-inspector-"));
const session = longSession(records);
const write = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const withSession = write("session.html", (await inspectorFile(session)).html);
const empty = write("empty.html", (await inspectorFile()).html);
const exported = write("session.jsonl", session);

async function newPage(browser: Browser): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
  page.setDefaultTimeout(openTimeoutMs);
  await page.addInitScript(observeLongTasks);
  return page;
}

/** Waits until the session can be scrubbed. Returns the time of the page, in milliseconds from its navigation. */
async function opened(page: Page): Promise<number> {
  await page.getByRole("listbox").waitFor();
  return await page.evaluate(() => performance.now());
}

/** Opens the page with the session in it, and the page that a file is chosen in, in new pages each time. */
async function measureOpenings(browser: Browser): Promise<void> {
  const painted: number[] = [];
  const openedAfter: number[] = [];
  const emptyPainted: number[] = [];
  const chosenAfter: number[] = [];
  const tasks: number[] = [];
  for (let count = 0; count < openings; count += 1) {
    const page = await newPage(browser);
    await page.goto(`file://${withSession}`);
    openedAfter.push(await opened(page));
    painted.push(await page.evaluate(firstPaint));
    tasks.push(...(await page.evaluate(takeLongTasks)));
    await page.close();
    const other = await newPage(browser);
    await other.goto(`file://${empty}`);
    await other.getByText("Drop an exported session here").waitFor();
    emptyPainted.push(await other.evaluate(firstPaint));
    const from = await other.evaluate(() => performance.now());
    await other.locator(".drop input[type=file]").setInputFiles(exported);
    chosenAfter.push((await opened(other)) - from);
    await other.close();
  }
  row("first paint, page without a session", emptyPainted);
  row("first paint, page with the session", painted);
  row("session is open, from the navigation", openedAfter);
  row("session is open, from the choice of a file", chosenAfter);
  row("long tasks while it opens", tasks);
}

/** The same positions in each run. */
function positions(): readonly number[] {
  let seed = 1;
  return Array.from({ length: steps }, () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return 1 + (seed % records);
  });
}

async function measureUse(browser: Browser): Promise<void> {
  const page = await newPage(browser);
  await page.goto(`file://${withSession}`);
  await opened(page);
  await page.evaluate(scrubTo, positions().slice(0, 20));
  // The checks of all digests run after the opening.
  await page.waitForTimeout(5_000);
  await page.evaluate(takeLongTasks);
  for (const tab of ["Graph", "State", "Request"]) {
    await page.getByRole("tab", { name: tab, exact: true }).click();
    row(`step to any record, ${tab}`, await page.evaluate(scrubTo, positions()));
  }
  await page.getByRole("tab", { name: "Graph", exact: true }).click();
  row("frame of a drag through the session", await page.evaluate(dragThrough, frames));
  row("long tasks of all steps and the drag", await page.evaluate(takeLongTasks));
  for (const query of ["lamp, model 9876.", "no such text", "tool:look", "is:failure"]) {
    const times: number[] = [];
    while (times.length < searches) times.push(await page.evaluate(searchFor, query));
    row(`search for "${query}"`, times);
  }
  await page.close();
}

const browser = await launchChromium();
try {
  await measureOpenings(browser);
  await measureUse(browser);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
console.log(`${records.toLocaleString("en")} records, milliseconds\n`);
console.log(table(["inspector", "count", "p50", "p95", "most"], rows));
console.log(machineText());
