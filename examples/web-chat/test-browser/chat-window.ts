import { canonicalJson } from "@moora/agent";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { countRenders } from "./count-renders.ts";
import { stateOf } from "./server-state.ts";

/** The errors of all windows. */
export const errors: Error[] = [];

/** A window with the page at an address; without an id it begins a session. */
export async function openWindow(
  browser: Browser,
  url: string,
  id = "",
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(8_000);
  // The first page of a development server waits until it has prepared its dependencies.
  context.setDefaultNavigationTimeout(60_000);
  await context.addInitScript(countRenders);
  const page = await context.newPage();
  page.on("pageerror", (error) => errors.push(error));
  await page.goto(`${url}#${id}`);
  await page.getByText("Connected", { exact: true }).waitFor();
  return page;
}

export async function write(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.keyboard.press("Enter");
}

export const item = (page: Page, name: string): Locator => page.getByRole("checkbox", { name });

/** Waits until the agent has nothing to do. */
export const untilIdle = async (page: Page): Promise<void> =>
  await page.locator('.messages[aria-busy="false"]').waitFor();

/** Waits until all windows have the same record, and compares their states with that of the server. */
export async function expectSameState(server: string, ...pages: readonly Page[]): Promise<void> {
  const last = Math.max(...(await Promise.all(pages.map(async (page) => (await sessionIn(page)).seq))));
  for (const page of pages) {
    await page.waitForFunction(
      (least) => (globalThis as unknown as { session: { seq(): number } }).session.seq() >= least,
      last,
    );
    const { id, seq, state } = await sessionIn(page);
    expect(canonicalJson(state)).toBe(await stateOf(server, id, seq));
  }
  expect(errors).toEqual([]);
}

/** What the page puts on its global object, and the counter of renders. */
interface PageGlobals {
  readonly session: {
    readonly id: string;
    seq(): number;
    current(): { readonly streaming: unknown };
    onEvent(listener: (event: { readonly type: string }) => void): void;
  };
  readonly renders: Record<string, number>;
}

/** The session of a page: its id, its last record, and its state as JSON. */
export const sessionIn = (page: Page): Promise<{ id: string; seq: number; state: unknown }> =>
  page.evaluate(() => {
    // The page has put it there.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const { session } = globalThis as unknown as PageGlobals;
    const { streaming: _, ...state } = session.current();
    return { id: session.id, seq: session.seq(), state };
  });

/** The renders of each component between an event of the stream and the next one, by the name of the component. */
export interface StreamedRenders {
  readonly event: "LlmToken" | "LlmToolCallDelta";
  readonly isAfterCall: boolean;
  readonly renders: Readonly<Record<string, number>>;
}

/** Records the renders for each piece that the model streams from now on. Returns a function that returns them. */
export async function recordStream(page: Page): Promise<() => Promise<readonly StreamedRenders[]>> {
  const handle = await page.evaluateHandle(() => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const { session, renders } = globalThis as unknown as PageGlobals;
    const pieces: StreamedRenders[] = [];
    let last: { readonly type: string; readonly isAfterCall: boolean } | undefined;
    let isAfterCall = false;
    session.onEvent(({ type }) => {
      if (last?.type === "LlmToken" || last?.type === "LlmToolCallDelta")
        pieces.push({ event: last.type, isAfterCall: last.isAfterCall, renders: { ...renders } });
      for (const name of Object.keys(renders)) delete renders[name];
      if (type === "LlmToolCallDelta") isAfterCall = true;
      last = { type, isAfterCall };
    });
    return pieces;
  });
  return async () => await handle.jsonValue();
}

/** The number of renders of each component since the last call, by its name. */
export const rendersIn = (page: Page): Promise<Readonly<Record<string, number>>> =>
  page.evaluate(() => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const { renders } = globalThis as unknown as PageGlobals;
    const counted = { ...renders };
    for (const name of Object.keys(renders)) delete renders[name];
    return counted;
  });
