import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { LogError } from "@moora/event-log";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { RestateFailure, restateLog, restateSession } from "../src/index.ts";

/** The URL of a server in place of Restate. */
async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The URL of a server that has ended. */
async function closedUrl(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.close();
  await once(server, "close");
  return url;
}

const sessionAt = (ingressUrl: string) => restateSession({ ingressUrl, agent: "helper", id: "ada" });

/** The error of a call, which must be a `RestateFailure` without a status. */
async function failureOf(call: Promise<unknown>): Promise<RestateFailure> {
  const error: unknown = await call.catch((reason: unknown) => reason);
  if (!(error instanceof RestateFailure)) throw new Error("The call must fail.", { cause: error });
  expect(error.status).toBeUndefined();
  return error;
}

describe("a session on a Restate that does not answer", () => {
  it.each(["send", "current", "toLog", "cancel"] as const)(
    "rejects %s with the address, without a path",
    async (method) => {
      const url = await closedUrl();
      const session = sessionAt(`${url}/secret/`);
      const { message, cause } = await failureOf(session[method]("Hello"));
      expect(message).toContain(`Restate at ${url} did not answer helper-session/ada/`);
      expect(message).not.toContain("secret");
      expect(cause).toBeInstanceOf(TypeError);
    },
  );

  it("names the cause, such as a refused connection", async () => {
    const { message } = await failureOf(sessionAt(await closedUrl()).send("Hello"));
    expect(message).toContain("ECONNREFUSED");
  });

  it("rejects for a connection that ends in the middle of an answer, and for a server that is not Restate", async () => {
    const broken = await serve((_, response) => void response.write("{", () => response.destroy()));
    expect((await failureOf(sessionAt(broken).send("Hello"))).message).toContain(broken);
    const page = await serve((_, response) => void response.end("<html></html>"));
    expect((await failureOf(sessionAt(page).send("Hello"))).message).toContain(
      "is not JSON: check ingressUrl",
    );
  });
});

describe("the list of the sessions on Restate", () => {
  const listOf = async (adminUrl: string): Promise<unknown> => {
    await using log = restateLog({ ingressUrl: adminUrl, adminUrl, agent: "helper" });
    return await log.list();
  };

  it.each([
    ["a value that is not JSON", { rows: [{ service_key: "ada", key: "header", value_utf8: "{" }] }],
    ["an answer without rows", {}],
  ])("is rejected with LogWrite for %s", async (_, body) => {
    const url = await serve((_request, response) => void response.end(JSON.stringify(body)));
    const error: unknown = await listOf(url).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LogError);
    expect(error).toMatchObject({ code: "LogWrite", cause: expect.any(Error) });
  });

  it("is rejected with LogWrite if the admin API does not answer in time", async () => {
    const arrived = Promise.withResolvers<void>();
    const url = await serve(() => arrived.resolve());
    const controller = new AbortController();
    const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(controller.signal);
    onTestFinished(() => timeout.mockRestore());
    const listed = listOf(url).catch((reason: unknown) => reason);
    await arrived.promise;
    controller.abort(new DOMException("The time is up.", "TimeoutError"));
    expect(await listed).toMatchObject({ code: "LogWrite", cause: { name: "TimeoutError" } });
  });
});
