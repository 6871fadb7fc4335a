import { defineAgent } from "@moora/agent";
import { durableObjectLog, type ObjectState } from "@moora/cloudflare";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { createAgentServer, type AgentServer } from "@moora/server";

const agent = defineAgent({ name: "helper", llm: new MockLlmCaller(() => answers("It is Oslo.")) });

/** An object of Cloudflare that is a server of agents, with its storage as the log. */
export class Server {
  readonly #server: AgentServer;

  constructor({ storage }: ObjectState) {
    this.#server = createAgentServer({ agents: [agent], log: durableObjectLog(storage) });
  }

  async fetch(request: Request): Promise<Response> {
    return await this.#server.fetch(request);
  }
}

interface Env {
  readonly SERVERS: {
    idFromName(name: string): unknown;
    get(id: unknown): { fetch(request: Request): Promise<Response> };
  };
}

export default {
  fetch: (request: Request, { SERVERS }: Env): Promise<Response> =>
    SERVERS.get(SERVERS.idFromName("one")).fetch(request),
};
