import { existsSync } from "node:fs";
import { chromium, type Browser, type Page } from "playwright-core";

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Starts Chromium. `CHROMIUM_PATH` names another place of it. */
export async function startBrowser(): Promise<Browser> {
  const executablePath = [process.env["CHROMIUM_PATH"] ?? "", ...places].find((place) => existsSync(place));
  if (executablePath === undefined)
    throw new Error(`No Chromium found at ${places.join(", ")}. Install it, or set CHROMIUM_PATH.`);
  return await chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-sync",
      "--disable-background-networking",
      "--disable-component-update",
    ],
  });
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
