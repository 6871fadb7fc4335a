import type { ServerParts } from "../server-parts.ts";
import { json } from "./route.ts";

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
