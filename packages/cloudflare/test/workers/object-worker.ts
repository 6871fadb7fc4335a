import { conformanceAgent } from "@moora/agent-testing/hosts";
import { sessionObject } from "@moora/cloudflare";

interface Env {
  readonly SESSIONS: { getByName(name: string): { fetch(request: Request): Promise<Response> } };
}

/** The log entries of all objects of this process. */
const entries: string[] = [];

const Base = sessionObject({
  agent: () => conformanceAgent({ reach: () => Promise.resolve() }),
  idleMs: 1,
  onLog: ({ level, code, sessionId }) => void entries.push(`${level} ${code} ${sessionId}`),
});

/** The object of the session, which also shows log entries. */
export class Sessions extends Base {
  override async fetch(request: Request): Promise<Response> {
    return request.url.endsWith("/entries") ? Response.json(entries) : await super.fetch(request);
  }
}

export default {
  /** The object is the one of the header, so that a test can reach a wrong one. */
  fetch: (request: Request, { SESSIONS }: Env): Promise<Response> =>
    SESSIONS.getByName(request.headers.get("object") ?? "").fetch(request),
};
