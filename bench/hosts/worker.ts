import { sessionObject, type ObjectState, type ObjectStorage } from "@moora/cloudflare";
import { calls, stepsAgent } from "./agent.ts";

interface Objects {
  getByName(name: string): { fetch(request: Request): Promise<Response> };
}

interface Env {
  readonly SESSIONS: Objects;
  readonly WRITES: Objects;
}

export class Sessions extends sessionObject<Env>({ agent: () => stepsAgent() }) {}

/** Writes a row as often as a loop has calls, each time until it is durable. */
export class Writes {
  readonly #storage: ObjectStorage;

  constructor({ storage }: ObjectState) {
    this.#storage = storage;
  }

  async fetch(): Promise<Response> {
    this.#storage.sql.exec("CREATE TABLE IF NOT EXISTS steps (result TEXT)");
    for (let call = 0; call < calls; call += 1) {
      this.#storage.sql.exec("INSERT INTO steps VALUES (?)", "ok");
      await this.#storage.sync();
    }
    return new Response("ok");
  }
}

export default {
  async fetch(request: Request, { SESSIONS, WRITES }: Env): Promise<Response> {
    const [, kind, id = ""] = /\/(sessions|writes)\/([^/]+)/.exec(request.url) ?? [];
    return await (kind === "writes" ? WRITES : SESSIONS).getByName(id).fetch(request);
  },
};
