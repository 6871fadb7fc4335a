import { exportSession } from "@moora/agent";
import { pathNotFound } from "../problem.ts";
import type { ServerParts } from "../server-parts.ts";
import type { Route } from "./route.ts";

/** The page of the inspector. It contains nothing of a session: what it shows, it requests as its user. */
export async function readInspector({ context: { inspector } }: ServerParts): Promise<Response> {
  if (inspector === undefined) throw pathNotFound();
  const { html, contentSecurityPolicy } = await inspector();
  return new Response(html, {
    headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": contentSecurityPolicy },
  });
}

/** The session as a portable text, with the digests of its records. */
export const exportRoute: Route = async ({ parts, access, param }) => {
  const { id } = await parts.directory.findFor(access, "read", param("id"));
  const text = await exportSession(parts.context.log, id);
  return new Response(text, { headers: { "content-type": "application/jsonl" } });
};
