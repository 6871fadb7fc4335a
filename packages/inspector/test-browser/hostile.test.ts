import { escapeHiddenCharacters } from "@moora/agent";
import { rulesVersion } from "@moora/agent-core-state-machine";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { launchChromium } from "@moora/testbed/chromium";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../../../scripts/workspace.ts";
import { watch, type Watched } from "./browser.ts";
import { Files } from "./files.ts";
import { hostileSession } from "./hostile-session.ts";
import { hostileTexts } from "./hostile-texts.ts";
import { sampleSession } from "./sample-session.ts";
import { foreignParts, visitPanels } from "./visit.ts";

/** Golden logs that have all types of inputs, and all kinds of what the page shows. */
const golden = [
  "a-note-while-a-tool-runs",
  "a-state-that-adds-to-the-trace",
  "a-tool-that-asks-after-its-approval",
  "a-tool-that-gives-a-file",
  "a-tool-that-throws",
  "a-message-with-a-file",
  "a-call-that-can-be-probed-broken-off-after-record-5",
  "a-filter",
  "a-reflection",
  "an-answer-that-is-reviewed",
  "an-answer-that-has-a-form",
  "an-approval-broken-off-after-record-4-and-resumed-by-a-later-release",
  "cancelled-while-one-runs-and-one-asks",
  "data-that-the-application-changes-meanwhile",
  "files-that-a-model-makes",
  "four-approvals-each-decided-otherwise",
  "paused-while-a-human-is-asked",
  "provider-ids-that-look-like-numbers",
  "reasoning-carried-over-two-turns-of-calls",
  "a-task-given-to-others",
  "the-model-finds-calls-that-a-summary-hides",
  "unsure-to-the-end",
];

/** All hostile texts, one after the other, without an end. Each is another one: ids stay ids. */
function* texts(): Generator<string, string> {
  for (let count = 0; ; count += 1) {
    const text = hostileTexts[count % hostileTexts.length] ?? "";
    yield count < hostileTexts.length ? text : `${text} ${count}`;
  }
}

/** A text that contains all of them. */
function* allTexts(): Generator<string, string> {
  for (let count = 0; ; count += 1)
    yield `${hostileTexts[count % hostileTexts.length]} ${hostileTexts.join("\n")} ${count}`;
}

const exportOf = (name: string): string =>
  readFileSync(join(root, `corpus/rules-${rulesVersion}/sessions/${name}.jsonl`), "utf8");

describe("hostile content in a file", () => {
  let browser: Browser;
  let page: Page;
  let watched: Watched;
  const files = new Files();
  const used = new Set<string>();

  beforeAll(async () => {
    browser = await launchChromium();
    page = await browser.newPage({ viewport: { width: 1_280, height: 800 } });
    watched = watch(page);
    page.on(
      "dialog",
      (dialog) => void dialog.dismiss().then(() => expect.fail("A script has opened a dialog.")),
    );
    await page.goto(await files.page());
  });
  afterAll(async () => {
    await browser.close();
    files[Symbol.dispose]();
  });

  const isOpen = async (id: string): Promise<void> => {
    await page.waitForFunction(
      (wanted) => document.querySelector("h1 span")?.getAttribute("title") === wanted,
      id,
    );
  };

  const open = async (id: string, exported: string): Promise<void> => {
    await page
      .locator("input[type=file][accept='.jsonl']")
      .first()
      .setInputFiles(files.write("hostile.jsonl", exported));
    await isOpen(id);
  };

  /** Visits all panels and dialogs at the middle and the last record, and every record in one panel. */
  const visit = async (): Promise<void> => {
    const last = Number((await page.locator(".position").textContent())?.split("/")[1]);
    for (let at = 0; at <= last; at += 1) {
      await page.getByRole("slider", { name: "Record" }).fill(String(at));
      await page.locator(`main[data-seq="${at}"]`).waitFor();
      if (![last >> 1, last].includes(at)) continue;
      expect(await page.evaluate(visitPanels)).toHaveLength(9);
      expect(await foreignParts(page)).toEqual([]);
    }
    for (const key of ["s", "?"]) {
      await page.locator("body").press(key);
      await page.getByRole("dialog").waitFor();
      expect(await foreignParts(page)).toEqual([]);
      await page.keyboard.press("Escape");
    }
  };

  const expectHarmless = (): void => {
    expect(watched.problems).toEqual([]);
    expect(watched.requests.filter((url) => !/^(file|blob):/.test(url))).toEqual([]);
    expect(page.url()).toContain("page.html");
  };

  it("has a table of at least 60 texts", () => expect(new Set(hostileTexts).size).toBeGreaterThanOrEqual(60));

  const cycle = texts();
  it.each(golden)("is text in all panels and dialogs: %s", async (name) => {
    const id = cycle.next().value;
    const { exported, replaced } = hostileSession(exportOf(name), id, cycle);
    expect(replaced.size).toBeGreaterThan(15);
    for (const text of replaced.values()) used.add(text.replace(/ \d+$/, ""));
    await open(id, exported);
    await visit();
    expectHarmless();
  });

  it("has put each text of the table somewhere", () =>
    expect(hostileTexts.filter((text) => !used.has(text))).toEqual([]));

  it("is text where each field has all of the texts", async () => {
    const { exported, replaced } = hostileSession(await sampleSession(), "all", allTexts());
    expect(replaced.size).toBeGreaterThan(40);
    await open("all", exported);
    await visit();
    expectHarmless();
  });

  it("is text in a page that contains the session, and in its problem", async () => {
    const id = hostileTexts.join("\n");
    const { exported } = hostileSession(exportOf("an-approval"), id, allTexts());
    await page.goto(await files.page(exported, id));
    // Characters that are not seen are shown as escapes.
    const shown = escapeHiddenCharacters(id);
    await isOpen(shown);
    expect(await page.getByRole("alert").textContent()).toBe(shown);
    await visit();
    expectHarmless();
  });
});
