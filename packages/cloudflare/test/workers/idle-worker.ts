import { conformanceAgent } from "@moora/agent-testing/hosts";
import { sessionObject, type ObjectState } from "@moora/cloudflare";
import { askingAgent } from "@moora/testbed/asking-agent";

interface Objects {
  getByName(name: string): { fetch(request: Request): Promise<Response> };
}

interface Env {
  readonly ASKING: Objects;
  readonly PLAIN: Objects;
}

/** How often this process has constructed an object of each class. */
const constructions = { Asking: 0, Plain: 0 };

const AskingBase = sessionObject<Env>({
  // Longer than the platform keeps an idle object in memory.
  agent: () => askingAgent("asking", 15_000),
  idleMs: 1,
});

const PlainBase = sessionObject<Env>({
  agent: () => conformanceAgent({ reach: () => Promise.resolve() }),
  idleMs: 1,
});

export class Asking extends AskingBase {
  constructor(state: ObjectState, env: Env) {
    super(state, env);
    constructions.Asking += 1;
  }
}

export class Plain extends PlainBase {
  constructor(state: ObjectState, env: Env) {
    super(state, env);
    constructions.Plain += 1;
  }
}

export default {
  /** The session `asking` is an object of its own class. */
  async fetch(request: Request, { ASKING, PLAIN }: Env): Promise<Response> {
    if (request.url.endsWith("/constructions")) return Response.json(constructions);
    const objects = request.url.includes("/sessions/asking") ? ASKING : PLAIN;
    return await objects.getByName("one").fetch(request);
  },
};
