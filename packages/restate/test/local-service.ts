import { createServer } from "node:http2";
import { setTimeout as pause } from "node:timers/promises";
import { stateAt, verifySession, type Agent } from "@moora/agent";
import { freePort } from "@moora/testbed/ports";
import { createEndpointHandler, type EndpointOptions } from "@restatedev/restate-sdk";
import { expect } from "vitest";
import {
  restateServices,
  type RestateOptions,
  type RestateSession,
  type CurrentSession,
} from "../src/index.ts";
import type { RestateServer } from "./restate-server.ts";

/** An agent that the process of the test serves, until it is disposed of. */
export interface LocalService extends AsyncDisposable {
  /** Registers it again, so that it is the newest deployment. */
  register(): Promise<void>;
  /** How often the server has started or continued an invocation of a handler, such as "clerk-session/post". */
  attempts(handler: string): number;
}

/** Serves an agent from the process of the test, and registers it as the newest deployment. Default of `ingressUrl`: that of the server. */
export async function serveLocally(
  server: RestateServer,
  agent: Agent<unknown>,
  options: Partial<RestateOptions> = {},
): Promise<LocalService> {
  return await serveServices(server, restateServices(agent, { ingressUrl: server.ingressUrl, ...options }));
}

/** Serves these services from the process of the test, and registers them as the newest deployment. */
export async function serveServices(
  server: RestateServer,
  services: EndpointOptions["services"],
): Promise<LocalService> {
  const port = await freePort();
  const endpoint = createServer(createEndpointHandler({ services, logger: () => undefined }));
  endpoint.on("session", (session) => session.unref());
  const paths: (string | undefined)[] = [];
  endpoint.on("stream", (_, { ":path": path }) => void paths.push(path));
  endpoint.listen(port, "127.0.0.1");
  const register = (): Promise<void> => server.register(`http://127.0.0.1:${port}`);
  await register();
  return {
    register,
    attempts: (handler) => paths.filter((path) => path === `/invoke/${handler}`).length,
    [Symbol.asyncDispose]() {
      endpoint.close();
      return Promise.resolve();
    },
  };
}

/** Sends a message, and resolves with the session when it is answered. */
export async function ask(session: RestateSession, content: string): Promise<CurrentSession> {
  await session.send(content);
  for (;;) {
    const current = await session.current();
    if (current?.state.reActContext.control.type === "Done") return current;
    await pause(5);
  }
}

/** Expects the session to be what its records fold to, and the records to be sound. */
export async function expectSound(session: RestateSession, id: string): Promise<void> {
  const current = await session.current();
  const log = await session.toLog();
  expect(await verifySession(log, id)).toMatchObject({ ok: true, seq: current?.seq });
  expect(current?.state).toEqual(JSON.parse(JSON.stringify((await stateAt(log, id)).state)));
}
