/** A worker of Cloudflare, with a Durable Object for each session. Its configuration is in the README of `@moora/cloudflare`. */
import { sessionObject } from "@moora/cloudflare";
import { agent } from "./agent.ts";

interface Env {
  readonly SESSIONS: { getByName(name: string): { fetch(request: Request): Promise<Response> } };
}

export class Sessions extends sessionObject<Env>({ agent: () => agent }) {}

export default {
  async fetch(request: Request, { SESSIONS }: Env): Promise<Response> {
    const [, id] = /^\/sessions\/([^/]+)/.exec(new URL(request.url).pathname) ?? [];
    // Authenticate the request here, and check that its user may use this session.
    return id === undefined
      ? new Response("Not found", { status: 404 })
      : await SESSIONS.getByName(id).fetch(request);
  },
};
