import { conformanceAgent } from "@moora/agent-testing/hosts";
import { sessionObject } from "@moora/cloudflare";

interface Env {
  readonly SESSIONS: { getByName(name: string): { fetch(request: Request): Promise<Response> } };
}

export class Sessions extends sessionObject({
  agent: () => conformanceAgent({ reach: () => Promise.resolve() }),
}) {}

export default {
  /** Answers with the error that the worker receives. */
  async fetch(request: Request, { SESSIONS }: Env): Promise<Response> {
    try {
      return await SESSIONS.getByName("plain").fetch(request);
    } catch (error) {
      return new Response(String(error), { status: 599 });
    }
  },
};
