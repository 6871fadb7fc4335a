import { conformanceAgent } from "@moora/agent-testing/hosts";
import { sessionObject } from "@moora/cloudflare";

interface Env {
  readonly SESSIONS: { getByName(name: string): { fetch(request: Request): Promise<Response> } };
}

export class Sessions extends sessionObject({
  agent: () => conformanceAgent({ reach: () => Promise.resolve() }),
  idleMs: 1,
}) {}

export default {
  /** The object is the one of the header, so that a test can reach a wrong one. */
  fetch: (request: Request, { SESSIONS }: Env): Promise<Response> =>
    SESSIONS.getByName(request.headers.get("object") ?? "").fetch(request),
};
