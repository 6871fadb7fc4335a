import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { text } from "node:stream/consumers";
import { answerTextAt, defineAgent, defineTool } from "@moora/agent";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { restateSession } from "../src/index.ts";
import { ask, expectSound, serveLocally } from "./local-service.ts";
import { RestateServer } from "./restate-server.ts";

let server: RestateServer;

beforeAll(async () => {
  server = await RestateServer.start();
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

/**
 * An ingress in front of that of a server. It leaves the next call of a handler without an answer when asked, or breaks the connection of a
 * report and forwards it later, before the report after it.
 */
class Ingress implements AsyncDisposable {
  readonly #server: Server;
  #late: string | undefined;
  #overtaken: { readonly url: string; readonly body: string } | undefined;
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
      const send = async (call: { readonly url: string; readonly body: string }): Promise<Response> => {
        const headers = { "content-type": "application/json" };
        return await fetch(`${target}${call.url}`, { method: "POST", headers, body: call.body });
      };
      const forward = async (): Promise<void> => {
        const call = { url, body: await text(request) };
        if (this.#late !== undefined && url.endsWith("/report") && call.body.includes(`"${this.#late}"`)) {
          this.#late = undefined;
          this.#overtaken = call;
          response.destroy();
          return;
        }
        const earlier = this.#overtaken;
        if (earlier?.url === url) {
          this.#overtaken = undefined;
          await send(earlier);
        }
        const answer = await send(call);
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

  /** Fails the next report with an input of a type for its effect. It arrives before the report after it. */
  delayReport(type: string): void {
    this.#late = type;
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
    const unanswered = ingress.leaveUnanswered("view");
    const answered = ask(session, "And now?");
    await unanswered;
    expect(timeouts).toHaveLength(1);
    timeouts[0]?.abort(new DOMException("The time for the read is over.", "TimeoutError"));
    const { state } = await answered;
    expect(state.messages.filter(({ role }) => role === "user")).toHaveLength(2);
  });
});

describe("an effect whose attempt ends while its intent is under way", () => {
  it("is interrupted by the attempt after it, and a model call begins again", async () => {
    await using ingress = new Ingress(server.ingressUrl);
    const agent = defineAgent({ name: "overtaken", llm: new MockLlmCaller(() => answers("Noted.")) });
    await using _ = await serveLocally(server, agent, { ingressUrl: await ingress.listen() });
    const session = restateSession({ ingressUrl: server.ingressUrl, agent: "overtaken", id: "a" });
    ingress.delayReport("llm-call-started");
    const { state } = await ask(session, "Hello.");
    expect(answerTextAt(state)).toBe("Noted.");
    await expectSound(session, "a");
  });

  it("is interrupted by the attempt after it, and a tool that runs once does not begin again", async () => {
    await using ingress = new Ingress(server.ingressUrl);
    const execute = vi.fn().mockReturnValue("paid");
    const agent = defineAgent({
      name: "payer",
      llm: new MockLlmCaller([callsTools([{ name: "pay" }]), answers("Done.")]),
      tools: [
        defineTool({ name: "pay", description: "Pays.", input: z.object({}), replay: "once", execute }),
      ],
    });
    await using _ = await serveLocally(server, agent, { ingressUrl: await ingress.listen() });
    const session = restateSession({ ingressUrl: server.ingressUrl, agent: "payer", id: "a" });
    ingress.delayReport("tool-call-started");
    const { state } = await ask(session, "Pay.");
    expect(Object.values(state.toolCalls)).toMatchObject([{ result: { code: "outcome-unknown" } }]);
    expect(execute).not.toHaveBeenCalled();
    await expectSound(session, "a");
  });
});
