import type { Page } from "playwright-core";

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
