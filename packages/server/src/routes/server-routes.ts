import { HttpProblem, pathNotFound } from "../problem.ts";
import type { ServerParts } from "../server-parts.ts";
import { json, type Route } from "./route.ts";

/** Answers while the process runs. */
export const healthResponse = (): Response => json({ status: "ok" });

/** Answers with 200 if the server takes requests and its log can be read, otherwise with 503. */
export async function readyResponse({ context, isClosing }: ServerParts): Promise<Response> {
  if (isClosing) return json({ status: "closing" }, 503);
  try {
    await context.log.open("ready");
    return json({ status: "ready" });
  } catch (error) {
    context.onError(error);
    return json({ status: "log-unavailable" }, 503);
  }
}

/** The metrics of this server, in the text format of Prometheus. */
export const readMetrics: Route = async ({ parts, access }) => {
  if (!access.mayReadMetrics) throw new HttpProblem("forbidden", "You may not read the metrics.");
  return new Response(parts.metricsText(), {
    headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
  });
};

/** The page of the inspector. It contains nothing of a session: what it shows, it requests as its user. */
export async function readInspector({ context: { inspector } }: ServerParts): Promise<Response> {
  if (inspector === undefined) throw pathNotFound();
  const { html, contentSecurityPolicy } = await inspector();
  return new Response(html, {
    headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": contentSecurityPolicy },
  });
}
