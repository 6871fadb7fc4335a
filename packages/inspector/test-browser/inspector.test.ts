import { readFileSync } from "node:fs";
import { parsePortable } from "@moora/agent";
import type { Page } from "playwright-core";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { pageForEach, watch, type Watched } from "./browser.ts";
import { Files } from "./files.ts";
import { forkedSample } from "./forked-sample.ts";
import { sampleSession } from "./sample-session.ts";

let sample = "";
let files = new Files();
let page: Page;
let watched: Watched;

beforeAll(async () => {
  sample = await sampleSession();
});
pageForEach((opened) => {
  files = new Files();
  page = opened;
  watched = watch(page);
});
afterEach(() => files[Symbol.dispose]());

/** Opens the sample at a record. */
async function open(hash = "", exported = sample): Promise<void> {
  await page.goto(`${await files.page(exported)}${hash}`);
  await page.getByRole("listbox").waitFor();
}

const position = () => page.locator(".position");
const tab = (name: string) => page.getByRole("tab", { name, exact: true });
const panel = () => page.getByRole("tabpanel");

describe("a file that is opened", () => {
  it("is chosen or dropped, and the page requests nothing", async () => {
    await page.goto(await files.page());
    await page.getByText("Drop an exported session here").waitFor();
    await page.locator(".drop input[type=file]").setInputFiles(files.write("session.jsonl", sample));
    await page.getByRole("heading", { name: "refund-1042" }).waitFor();
    expect(await position().textContent()).toBe("21 / 21");
    const other = await page.evaluateHandle(
      (text) => {
        const data = new DataTransfer();
        data.items.add(new File([text], "other.jsonl"));
        return data;
      },
      sample.replace("refund-1042", "dropped-one"),
    );
    await page.dispatchEvent("body", "drop", { dataTransfer: other });
    await page.getByRole("heading", { name: "dropped-one" }).waitFor();
    expect(watched.problems).toEqual([]);
    expect(watched.requests.filter((url) => !/^(file|blob|data):/.test(url))).toEqual([]);
  });

  it("is refused with what to do, and a damaged one shows where it is damaged", async () => {
    await page.goto(await files.page());
    const input = page.locator(".drop input[type=file]");
    await input.setInputFiles(files.write("notes.jsonl", "hello\n"));
    await page.getByRole("alert").getByText("moora export").waitFor();
    const lines = sample.split("\n");
    const changed = lines.with(6, (lines[6] ?? "").replace("30 days", "99 days")).join("\n");
    expect(changed).not.toBe(sample);
    await input.setInputFiles(files.write("changed.jsonl", changed));
    await page.getByRole("button", { name: "Go to record 6" }).click();
    expect(await position().textContent()).toBe("6 / 21");
    await tab("Record").click();
    await panel().getByText("The digest is wrong").waitFor();
    await page.getByRole("slider", { name: "Record" }).press("ArrowRight");
    await panel().getByText("The digests are valid").waitFor();
  });

  it("shows hostile content as text", async () => {
    const hostile = "</script><img src=x onerror=alert(1)><b>bold</b><!--";
    const text = sample.replaceAll("My lamp arrived broken.", hostile);
    await open("#at=21", text);
    await page.getByRole("log").getByText(hostile).waitFor();
    for (const name of ["Request", "State", "Record", "Diff"]) await tab(name).click();
    expect(await page.locator("img, b:text('bold')").count()).toBe(0);
    expect(watched.problems).toEqual([]);
  });
});

describe("a position", () => {
  it("is reached by the scrubber, by keys, by the list, by marks around the end, and by a link", async () => {
    await open("#at=8");
    expect(await position().textContent()).toBe("8 / 21");
    await page.getByRole("slider", { name: "Record" }).fill("4");
    expect(await position().textContent()).toBe("4 / 21");
    await page.locator("body").press("ArrowRight");
    await page.locator("body").press("Shift+ArrowRight");
    expect(await position().textContent()).toBe("15 / 21");
    await page.getByRole("option").filter({ hasText: "refund_policy started" }).click();
    expect(await position().textContent()).toBe("4 / 21");
    const reached: (string | null)[] = [];
    for (const key of ["Home", "f", "f", "f", "Shift+F", "r", "a", "Shift+C", "c", "Shift+A", "t", "End"]) {
      await page.locator("body").press(key);
      reached.push(await position().textContent());
    }
    expect(reached.map((text) => text?.split(" ")[0])).toEqual([
      "0",
      "14",
      "17",
      "14",
      "17",
      "9",
      "18",
      "9",
      "9",
      "8",
      "9",
      "21",
    ]);
  });

  it("shows the conversation, the graph, the request, the state, the data and the usage", async () => {
    await open("#at=10");
    await page.getByRole("log").getByText("approved by maria").waitFor();
    const graph = panel().getByRole("img");
    expect(await graph.getAttribute("aria-label")).toContain("Acting —ToolSuccess→ Observing");
    await tab("Request").click();
    await panel().getByText("The model got this request with record 10.").waitFor();
    expect(await panel().locator(".request-messages > .stable").count()).toBeGreaterThan(0);
    expect(await panel().locator(".request-messages > .new").count()).toBe(1);
    await panel().getByText("It extends the request before.").waitFor();
    await panel().getByText("tokens, limit 120,000").click();
    await panel().getByRole("row", { name: "instructions 15" }).waitFor();
    await tab("State").click();
    await panel().locator(".changed > details > summary").getByText("data", { exact: true }).waitFor();
    const isOpen = (name: string) =>
      panel()
        .locator(".tree > ul > li > details", { has: page.getByText(name, { exact: true }) })
        .evaluate((details) => details.hasAttribute("open"));
    expect(await Promise.all(["messages", "toolCalls", "data", "reActContext"].map(isOpen))).toEqual([
      true,
      true,
      true,
      false,
    ]);
    await tab("Data").click();
    await panel().getByText('"euros": 59.9').waitFor();
    await tab("Usage").click();
    await panel().getByRole("row", { name: "Input tokens 1,846 1,846" }).waitFor();
    await panel().getByRole("row", { name: "Cost 0.003314 0.003314" }).waitFor();
    await panel().getByRole("row", { name: "Tokens of the session 1,951 3.9% 50,000" }).waitFor();
    await panel().getByRole("row", { name: "Cost of the session 0.003314 0.7% 0.5" }).waitFor();
    await page.locator("body").press("End");
    await panel().getByRole("row", { name: "Cost 0.007584 0.003136" }).waitFor();
    await panel().getByRole("row", { name: "Cost of the session 0.007584 1.5% 0.5" }).waitFor();
    await page.getByRole("slider", { name: "Record" }).fill("10");
    await tab("Effects").click();
    await panel().getByText("plan/1/3/1").first().waitFor();
    expect(watched.problems).toEqual([]);
  });

  it("keeps its address, with which it is opened again", async () => {
    await open("#at=9&tab=record");
    await page.locator("body").press("ArrowLeft");
    await page.waitForFunction(() => location.hash.includes("at=8"));
    await page.reload();
    await page.getByRole("listbox").waitFor();
    expect(await position().textContent()).toBe("8 / 21");
    expect(await tab("Record").getAttribute("aria-selected")).toBe("true");
  });
});

describe("the timeline", () => {
  const canvas = () => page.locator(".canvas");
  /** The part of the axis that is shown. */
  const range = async (): Promise<readonly number[]> =>
    await canvas().evaluate(({ dataset }) => [dataset["from"], dataset["to"]].map(Number));

  it("is zoomed around the pointer with the wheel, and moved with Shift", async () => {
    await open("#at=21");
    expect(await range()).toEqual([1, 22]);
    const { x, y, width } = (await canvas().boundingBox()) ?? { x: 0, y: 0, width: 0 };
    await page.mouse.move(x + width / 3, y + 40);
    await page.mouse.wheel(0, -300 * Math.log(2));
    const zoomed = await until(range, ([from]) => from !== 1);
    expect(zoomed[0]).toBeCloseTo(4.5, 0);
    expect(zoomed[1]).toBeCloseTo(15, 0);
    await page.keyboard.down("Shift");
    await page.mouse.wheel(0, width / 3);
    await page.keyboard.up("Shift");
    const moved = await until(range, ([from]) => from !== zoomed[0]);
    expect(moved[0]).toBeCloseTo(8, 0);
    await page.mouse.wheel(0, 3_000);
    expect(await until(range, ([from]) => from === 1)).toEqual([1, 22]);
    expect(await position().textContent()).toBe("21 / 21");
  });

  it("is zoomed to the part that is dragged over with Shift, and scrubbed by a drag without", async () => {
    await open("#at=21");
    const { x, y, width } = (await canvas().boundingBox()) ?? { x: 0, y: 0, width: 0 };
    const drag = async (from: number, to: number): Promise<void> => {
      await page.mouse.move(x + width * from, y + 40);
      await page.mouse.down();
      await page.mouse.move(x + width * to, y + 40, { steps: 4 });
    };
    await page.keyboard.down("Shift");
    await drag(2 / 3, 1 / 3);
    await page.locator(".selection").waitFor();
    await page.mouse.up();
    await page.keyboard.up("Shift");
    const shown = await until(range, ([from]) => from !== 1);
    expect(shown[0]).toBeCloseTo(7.7, 0);
    expect(shown[1]).toBeCloseTo(15.3, 0);
    expect(await page.locator(".selection").count()).toBe(0);
    expect(await position().textContent()).toBe("21 / 21");
    await drag(0.1, 0.5);
    await page.mouse.up();
    expect(await range()).toEqual(shown);
    expect(["11 / 21", "12 / 21"]).toContain(await position().textContent());
    await page.locator("body").press("0");
    expect(await range()).toEqual([1, 22]);
  });
});

/** Reads until a value is as expected. */
async function until<Value>(read: () => Promise<Value>, isWanted: (value: Value) => boolean): Promise<Value> {
  await expect.poll(async () => isWanted(await read())).toBe(true);
  return await read();
}

describe("a search", () => {
  it("lists what it finds, goes from one to the next, and ends with Escape", async () => {
    await open("#at=0");
    await page.locator("body").press("/");
    await page.keyboard.type("tool:refund");
    await page.getByRole("listbox", { name: "Records that match" }).waitFor();
    const found = await page.getByRole("option").allTextContents();
    expect(found.length).toBeGreaterThan(4);
    await page.keyboard.press("Enter");
    expect(await position().textContent()).toBe("7 / 21");
    await page.keyboard.press("Escape");
    await page.getByRole("listbox", { name: "Records", exact: true }).waitFor();
    await page.getByRole("searchbox").fill("no such text anywhere");
    await page.getByText("No record matches.").waitFor();
  });
});

describe("two positions or sessions", () => {
  it("are compared: a pinned record with another one", async () => {
    await open("#at=8&tab=diff");
    await page.locator("body").press("p");
    await page.locator("body").press("End");
    const row = panel().getByRole("row", { name: /^data\.refunded\[0\]/ });
    await row.waitFor();
    expect(await row.textContent()).toContain("1042");
  });

  it("are compared: a session with its fork, from the record at which they part", async () => {
    await open("#tab=compare");
    await panel()
      .locator("input[type=file]")
      .setInputFiles(files.write("fork.jsonl", await forkedSample(sample)));
    await panel().getByText("Both have the same records until").waitFor();
    expect(await panel().getByRole("button", { name: "12", exact: true }).count()).toBe(1);
    const side = (name: string) => panel().getByRole("region", { name, exact: true });
    await side("refund-1042").getByText("And order 2077? It cost 480 euros.").first().waitFor();
    await side("refund-1042-fork").getByText("And order 1043? It cost 20 euros.").first().waitFor();
    const row = panel().getByRole("row", { name: /^messages\[3\]\.content/ });
    expect(await row.textContent()).toContain("order 2077");
    expect(await row.textContent()).toContain("order 1043");
    expect(watched.problems).toEqual([]);
  });
});

describe("sharing", () => {
  it("saves a golden log and a redacted copy, and copies a test and a command", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await open("#at=10");
    await page.locator("body").press("s");
    const dialog = page.getByRole("dialog");
    const saved = async (name: string): Promise<string> => {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        dialog.getByRole("button", { name }).click(),
      ]);
      return readFileSync(await download.path(), "utf8");
    };
    expect(parsePortable(await saved("Save the golden log")).records).toHaveLength(10);
    const redacted = await saved("Save the redacted session");
    expect(redacted).not.toContain("lamp arrived");
    expect(parsePortable(redacted).records).toHaveLength(21);
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
    await dialog.getByRole("button", { name: "a transcript" }).click();
    await page.getByText("The test is in the clipboard.").waitFor();
    expect(await clipboard()).toContain(').shows("Planning", "plan/1/3/1");');
    await dialog.getByRole("button", { name: "forks here" }).click();
    await page.getByText("The command is in the clipboard.").waitFor();
    expect(await clipboard()).toBe("moora fork refund-1042 --at 10 --to refund-1042-fork");
    await page.keyboard.press("Escape");
    expect(await dialog.count()).toBe(0);
  });
});

describe("a reader with a keyboard, a screen reader or a small screen", () => {
  it("reaches every control with the Tab key, and sees which one has the focus", async () => {
    await open("#at=18");
    await page.getByRole("searchbox").focus();
    const reached = [await page.evaluate(focused)];
    while (reached.length < 80 && reached.at(-1) !== "body") {
      await page.keyboard.press("Tab");
      reached.push(await page.evaluate(focused));
    }
    for (const control of ["Search", "Share", "Dark", "Keys", "First", "Back", "Forward", "Last", "Record"])
      expect(reached).toContain(control);
    for (const part of ["Failure", "Time", "Zoom in", "Records", "Open questions", "Graph"])
      expect(reached).toContain(part);
    expect(reached.filter((name) => name.includes("without an outline"))).toEqual([]);
    expect(reached.at(-1)).toBe("body");
  });

  it("reaches every panel at 400 pixels, and nothing is wider than the page", async () => {
    await page.setViewportSize({ width: 400, height: 800 });
    await page.goto(`${await files.page(sample)}#at=17`);
    for (const name of [
      "Records",
      "Chat",
      "Graph",
      "Request",
      "State",
      "Record",
      "Usage",
      "Diff",
      "Compare",
    ]) {
      await tab(name).click();
      expect(await tab(name).getAttribute("aria-selected")).toBe("true");
      expect(await page.evaluate(() => document.documentElement.scrollWidth), name).toBeLessThanOrEqual(400);
    }
  });

  it("selects panels with numbers and arrows, and sees the keys with a question mark", async () => {
    await open("#at=3");
    await page.locator("body").press("3");
    expect(await tab("State").getAttribute("aria-selected")).toBe("true");
    await tab("State").press("ArrowRight");
    expect(await tab("Record").getAttribute("aria-selected")).toBe("true");
    expect(await position().textContent()).toBe("3 / 21");
    await page.locator("body").press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
  });
});

/** The name of what has the focus, and whether the user cannot see it. Runs in the page. */
function focused(): string {
  const element = document.activeElement;
  if (element === null || element === document.body) return "body";
  const outlined = element.closest(".file") ?? element;
  const name = element.getAttribute("aria-label") ?? element.textContent.trim();
  return getComputedStyle(outlined).outlineStyle === "none" ? `${name} without an outline` : name;
}
