import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { CommitDeath } from "@moora/agent-testing/hosts";
import { restateSession } from "../src/index.ts";

export interface DyingIngressOptions {
  /** The ingress of Restate. */
  readonly ingressUrl: string;
  readonly agent: string;
  readonly death: CommitDeath;
  /** Kills the process with the agent. */
  readonly kill: () => Promise<void>;
}

/**
 * The ingress of Restate for a process that dies at a record: before the inputs that make it reach Restate, or when they are durable and
 * the process has no answer yet. Inputs pass one at a time.
 */
export class DyingIngress implements AsyncDisposable {
  readonly #options: DyingIngressOptions;
  readonly #server: Server;
  #passing: Promise<unknown> = Promise.resolve();
  #isDead = false;

  private constructor(options: DyingIngressOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      this.#answer(request).then(
        ({ status, body }) => response.writeHead(status, { "content-type": "application/json" }).end(body),
        () => response.destroy(),
      );
    });
  }

  static async start(options: DyingIngressOptions): Promise<DyingIngress> {
    const ingress = new DyingIngress(options);
    ingress.#server.listen(0, "127.0.0.1");
    await once(ingress.#server, "listening");
    return ingress;
  }

  get url(): string {
    // A server on a port always has an address with a port.
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Sends inputs to a session, unless the process dies before that. Resolves when they are durable; never, if it dies. */
  commit<Answer>(id: string, inputs: number, send: () => Promise<Answer>): Promise<Answer> {
    const passed = this.#passing.then(() => this.#commit(id, inputs, send));
    this.#passing = passed.catch(() => undefined);
    return passed;
  }

  async #commit<Answer>(id: string, inputs: number, send: () => Promise<Answer>): Promise<Answer> {
    const { death } = this.#options;
    if (this.#isDead) return await send();
    // The first input of a session comes after a record of its agent.
    const head = await this.#headOf(id);
    const next = head === 0 ? 1 + inputs : head + inputs;
    if (death.when === "before" && death.seq <= next) return await this.#die();
    const answer = await send();
    if (death.when === "after" && death.seq <= (await this.#headOf(id))) return await this.#die();
    return answer;
  }

  async #die(): Promise<never> {
    this.#isDead = true;
    await this.#options.kill();
    return await Promise.race([]);
  }

  async #headOf(id: string): Promise<number> {
    const { ingressUrl, agent } = this.#options;
    return (await restateSession({ ingressUrl, agent, id }).current())?.seq ?? 0;
  }

  async #answer(request: IncomingMessage): Promise<{ readonly status: number; readonly body: string }> {
    const [path, sent] = [request.url ?? "", await text(request)];
    const send = async () => {
      const response = await fetch(`${this.#options.ingressUrl}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: sent,
      });
      return { status: response.status, body: await response.text() };
    };
    const [, id] = /^\/[^/]+\/([^/]+)\/report$/.exec(path) ?? [];
    if (id === undefined) return await send();
    const { inputs }: { readonly inputs: readonly unknown[] } = JSON.parse(sent);
    return await this.commit(decodeURIComponent(id), inputs.length, send);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}
