import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { launchChromium } from "@moora/testbed/chromium";
import { Page as Documentation } from "@moora/testbed/page";
import { afterAll, beforeAll, expect, it } from "vitest";

let folder: string;
let server: ChildProcess;
let url: string;

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("The probe has no port.");
  return address.port;
}

const isUp = (): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );

beforeAll(async () => {
  folder = mkdtempSync(join(import.meta.dirname, "../.fences-"));
  const page = new Documentation("docs/server.md");
  const port = await freePort();
  url = `http://127.0.0.1:${port}/`;
  const program = page.block("ts file=server.ts");
  writeFileSync(join(folder, "server.ts"), program.replace("listen(8787,", `listen(${port},`));
  writeFileSync(join(folder, "index.html"), page.block("html file=index.html"));
  server = spawn(process.execPath, ["--conditions=@moora/source", "server.ts"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  while (!(await isUp())) if (server.exitCode !== null) throw new Error("The server has ended.");
});

afterAll(async () => {
  const ended = once(server, "exit");
  server.kill();
  await ended;
  rmSync(folder, { recursive: true });
});

it("The page without a framework shows what its user writes, and the answer.", async () => {
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on("pageerror", ({ message }) => errors.push(message));
    await page.goto(url);
    await page.fill("input", "What is 2 + 2?");
    await page.press("input", "Enter");
    await page.waitForFunction(
      () => document.querySelector("pre")?.textContent?.includes("assistant: ") === true,
    );
    expect(await page.textContent("pre")).toContain("user: What is 2 + 2?");
    expect(errors).toEqual([]);
  } finally {
    await browser.close();
  }
});
