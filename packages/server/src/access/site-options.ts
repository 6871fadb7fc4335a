import { BuildError } from "@moora/agent";
import { shownValue } from "@moora/agent-core-effects/internal";
import type { Authorize } from "./grant.ts";
import { isLoopbackHost } from "./site-checks.ts";

/** Throws `BuildError` for a pattern or a URL, which would match no host, and for a host of other machines on a server whose users are all one user. */
export function checkedHosts(hosts: readonly string[], authorize: Authorize | undefined): readonly string[] {
  const pattern = hosts.find((host) => !isHost(host));
  if (pattern !== undefined) {
    throw new BuildError(
      `allowedHosts must contain hosts such as "agents.example.com", got ${JSON.stringify(pattern)}.`,
    );
  }
  const beyond = authorize === undefined ? hosts.find((host) => !isLoopbackHost(host)) : undefined;
  if (beyond === undefined) return hosts.map((host) => host.toLowerCase());
  throw new BuildError(
    `allowedHosts names ${shownValue(beyond)}, which other machines can reach. Give authorize as well.`,
  );
}

/** Whether a text is a host as the header `Host` has it: with its port, unless that is the usual one. */
const isHost = (text: string): boolean =>
  URL.parse(`http://${text}/`)?.host === text.toLowerCase() && !text.includes("*");

/** Origins are compared as browsers write them. `*` and `null` would let every page in, and a pattern none. */
export function checkedOrigin(origin: string): string {
  if (URL.parse(origin)?.origin === origin && origin !== "null" && !origin.includes("*")) return origin;
  throw new BuildError(
    `allowedOrigins must contain origins such as "https://app.example.com", got ${JSON.stringify(origin)}.`,
  );
}
