import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { text } from "node:stream/consumers";
import { defineAgent } from "@moora/agent";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { restateSession } from "../src/index.ts";
import { ask, serveLocally } from "./local-service.ts";
import { RestateServer } from "./restate-server.ts";

let server: RestateServer;

beforeAll(async () => {
  server = await RestateServer.start();
}, 60_000);

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

/** An ingress in front of that of a server. It leaves the next call of a handler without an answer when asked. */
class Ingress implements AsyncDisposable {
  readonly #server: Server;
  #unanswered: { readonly handler: string; readonly arrive: () => void } | undefined;

  constructor(target: string) {
    this.#server = createServer((request, response) => {
      const { url = "" } = request;
      const unanswered = this.#unanswered;
      if (unanswered !== undefined && url.endsWith(`/${unanswered.handler}`)) {
        this.#unanswered = undefined;
        unanswered.arrive();
        return;
      }
      const forward = async (): Promise<void> => {
        const headers = { "content-type": "application/json" };
        const init = { method: "POST", headers, body: await text(request) };
        const answer = await fetch(`${target}${url}`, init);
        response.statusCode = answer.status;
        response.end(await answer.text());
      };
      forward().catch(() => response.destroy());
    });
  }

  async listen(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const address = this.#server.address();
    return typeof address === "object" ? `http://127.0.0.1:${address?.port}` : "";
  }

  /** Resolves when the next call of a handler has arrived, which gets no answer. */
  async leaveUnanswered(handler: string): Promise<void> {
    await new Promise<void>((arrive) => {
      this.#unanswered = { handler, arrive };
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

describe("an input whose read of the session gets no answer", () => {
  it("is applied once, in another attempt, when the time for the read is over", async () => {
    await using ingress = new Ingress(server.ingressUrl);
    const agent = defineAgent({ name: "stalled", llm: new MockLlmCaller(() => answers("Noted.")) });
    const options = { ingressUrl: await ingress.listen(), cacheBytes: 1 };
    await using _ = await serveLocally(server, agent, options);
    const session = restateSession({ ingressUrl: server.ingressUrl, agent: "stalled", id: "a" });
    await ask(session, "Hello.");

    const timeouts: AbortController[] = [];
    const timeout = vi.spyOn(AbortSignal, "timeout").mockImplementation(() => {
      const controller = new AbortController();
      timeouts.push(controller);
      return controller.signal;
    });
    onTestFinished(() => timeout.mockRestore());
    const unanswered = ingress.leaveUnanswered("stored");
    const answered = ask(session, "And now?");
    await unanswered;
    expect(timeouts).toHaveLength(1);
    timeouts[0]?.abort(new DOMException("The time for the read is over.", "TimeoutError"));
    const { state } = await answered;
    expect(state.messages.filter(({ role }) => role === "user")).toHaveLength(2);
  });
});
