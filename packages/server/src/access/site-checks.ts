import { HttpProblem } from "../problem.ts";
import type { ServerContext } from "../server-options.ts";

const loopbackName = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/;

/** Whether an address to listen on can be reached from this machine only. An IPv6 address has no brackets. */
export const isLoopbackAddress = (address: string): boolean =>
  address === "::1" || (loopbackName.test(address) && !/[[:]/.test(address));

/** Whether a host, as in the header `Host`, is a loopback address. */
export const isLoopbackHost = (host: string): boolean => loopbackName.test(host.toLowerCase());

/**
 * Checks the host and the origin of a request. A page whose name was bound to a loopback address (DNS rebinding) names a host
 * that this server does not have; a page of another site names its origin. Throws `HttpProblem`.
 */
export function checkSite(
  { authorize, allowedHosts, allowedOrigins, basePath }: ServerContext,
  request: Request,
  isLoopback: boolean,
): void {
  const url = new URL(request.url);
  const host = (request.headers.get("host") ?? url.host).toLowerCase();
  if ((isLoopback || authorize === undefined) && !isLoopbackHost(host) && !allowedHosts.includes(host)) {
    throw new HttpProblem(
      "host-not-allowed",
      "The host of the request is not allowed. Name it in allowedHosts, or with --allow-host of moora serve.",
    );
  }
  const origin = request.headers.get("origin");
  if (origin !== null) {
    if (allowedOrigins.has(origin) || URL.parse(origin)?.host === host) return;
    throw new HttpProblem(
      "origin-not-allowed",
      "The origin of the request is not allowed: it is not that of the header Host. Name it in allowedOrigins, or with --allow-origin of moora serve, or let the proxy keep Host, " +
        "which the short form of server.proxy of Vite changes: use { target }.",
    );
  }
  const site = request.headers.get("sec-fetch-site");
  const isForeign = site === "cross-site" || site === "same-site";
  if (isForeign && !followsLinkToPage(request, url, basePath))
    throw new HttpProblem("origin-not-allowed", "Requests from pages of other sites are not allowed.");
}

/** The pages that contain nothing of a session, and are never shown in a frame: a link of another site may lead to them. */
const pagePaths: ReadonlySet<string> = new Set(["/inspector", "/inspector/", "/openapi.json"]);

/** Whether the browser opens such a page as a document of its own, which the site of the link cannot read. */
const followsLinkToPage = ({ method, headers }: Request, { pathname }: URL, basePath: string): boolean =>
  method === "GET" &&
  headers.get("sec-fetch-mode") === "navigate" &&
  headers.get("sec-fetch-dest") === "document" &&
  pathname.startsWith(basePath) &&
  pagePaths.has(pathname.slice(basePath.length));

/** The headers of every response. */
const strictHeaders: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** The headers that pages of another origin may send. */
const requestHeaders =
  "authorization, content-type, idempotency-key, last-event-id, moora-protocol, mcp-method, mcp-name, mcp-protocol-version";

/** Sets the headers of every response that it does not have. */
export function setStrictHeaders(response: Response): Response {
  for (const [name, value] of Object.entries(strictHeaders))
    if (!response.headers.has(name)) response.headers.set(name, value);
  return response;
}

/** Sets the headers of every response, and those of CORS for an allowed origin. */
export function secured(response: Response, request: Request, { allowedOrigins }: ServerContext): Response {
  setStrictHeaders(response);
  if (allowedOrigins.size > 0) response.headers.append("vary", "origin");
  const origin = request.headers.get("origin");
  if (origin === null || !allowedOrigins.has(origin)) return response;
  response.headers.set("access-control-allow-origin", origin);
  response.headers.set("access-control-allow-credentials", "true");
  response.headers.set(
    "access-control-expose-headers",
    "location, moora-protocol, moora-session, retry-after",
  );
  return response;
}

/** The answer to a preflight request of an allowed origin. */
export const preflightResponse = (): Response =>
  new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-methods": "GET, POST, DELETE",
      "access-control-allow-headers": requestHeaders,
      "access-control-max-age": "600",
    },
  });
