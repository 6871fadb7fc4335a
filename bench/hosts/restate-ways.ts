import { readFileSync } from "node:fs";
import { createServer } from "node:http2";
import { setTimeout as pause } from "node:timers/promises";
import { restateServices, restateSession, type RestateOptions, type RestateSession } from "@moora/restate";
import { freePort } from "@moora/testbed/ports";
import { createEndpointHandler, service, type Context } from "@restatedev/restate-sdk";
import { RestateServer } from "../../packages/restate/test/restate-server.ts";
import { calls, isDone, stepsAgent } from "./agent.ts";
import type { HostWays } from "./way.ts";

/** What a session has written after a number of its records. */
export interface Growth {
  readonly records: number;
  /** The length of its state as JSON. */
  readonly stateBytes: number;
  /** What the server has written to its disk for each model call or tool call since the row before. */
  readonly writtenBytesPerCall: number;
}

/** A session on Restate, and a handler of as many `ctx.run`. */
export class RestateWays implements HostWays {
  readonly #server: RestateServer;
  readonly #close: () => void;
  #onLastCall: () => void = () => undefined;

  private constructor(server: RestateServer, port: number, options: Pick<RestateOptions, "cacheBytes">) {
    this.#server = server;
    const bare = service({
      name: "bare",
      handlers: {
        run: async (ctx: Context) => {
          for (let call = 0; call < calls; call += 1) await ctx.run("step", () => "ok");
        },
      },
    });
    const agent = stepsAgent(() => this.#onLastCall());
    const services = [...restateServices(agent, { ...options, ingressUrl: server.ingressUrl }), bare];
    const endpoint = createServer(createEndpointHandler({ services, logger: () => undefined }));
    endpoint.on("session", (session) => session.unref());
    endpoint.listen(port, "127.0.0.1");
    this.#close = () => void endpoint.close();
  }

  static async start(options: Pick<RestateOptions, "cacheBytes"> = {}): Promise<RestateWays> {
    const [server, port] = [await RestateServer.start(), await freePort()];
    const ways = new RestateWays(server, port, options);
    await server.register(`http://127.0.0.1:${port}`);
    return ways;
  }

  readonly ways = [
    { name: "a bare run of Restate", run: () => this.#runBare() },
    {
      name: "Restate",
      beside: "a bare run of Restate",
      run: (sample: number) => this.#ask(this.#session(`s${sample}`)),
    },
  ];

  /** Lets a session grow to these numbers of records, and measures so many loops at each. The server is idle otherwise. */
  async growths(records: readonly number[], loops: number): Promise<readonly Growth[]> {
    const session = this.#session("long");
    const rows: Growth[] = [];
    for (const least of records) {
      let seq = (await session.current())?.seq ?? 0;
      // The loops before the ones that are measured.
      while (seq < least) seq = await this.#ask(session);
      const before = await this.#writtenBytes();
      for (let loop = 0; loop < loops; loop += 1) seq = await this.#ask(session);
      const writtenBytesPerCall = ((await this.#writtenBytes()) - before) / loops / calls;
      const { state } = (await session.current()) ?? {};
      const stateBytes = Buffer.byteLength(JSON.stringify(state));
      rows.push({ records: seq, stateBytes, writtenBytesPerCall });
    }
    return rows;
  }

  /** Model calls and tool calls in a second, of this number of sessions at once. No session is read before all are at their end. */
  async callsPerSecond(sessions: number): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let ended = 0;
    this.#onLastCall = () => {
      ended += 1;
      if (ended === sessions) resolve();
    };
    const crowd = Array.from({ length: sessions }, (_, index) => this.#session(`crowd-${index}`));
    const start = performance.now();
    await Promise.all(crowd.map((session) => session.send("Work.")));
    await promise;
    await Promise.all(crowd.map((session) => endOf(session)));
    return (sessions * calls * 1_000) / (performance.now() - start);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
    this.#close();
  }

  #session(id: string): RestateSession {
    return restateSession({ ingressUrl: this.#server.ingressUrl, agent: "steps", id });
  }

  async #runBare(): Promise<void> {
    const response = await fetch(`${this.#server.ingressUrl}/bare/run`, { method: "POST" });
    if (!response.ok) throw new Error(await response.text());
  }

  /** Asks, and resolves with the number of records. Reads the session only after the last model call has begun. */
  async #ask(session: RestateSession): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onLastCall = resolve;
    await session.send("Work.");
    await promise;
    return await endOf(session);
  }

  /** What the process of the server has written to files, when it has become quiet. Only Linux counts it. */
  async #writtenBytes(): Promise<number> {
    await pause(1_500);
    const counts = readFileSync(`/proc/${this.#server.pid}/io`, "utf8");
    return Number(/^write_bytes: (\d+)$/m.exec(counts)?.[1]);
  }
}

/** Resolves with the number of records when the session has ended its loop. */
async function endOf(session: RestateSession): Promise<number> {
  for (;;) {
    const current = await session.current();
    if (current !== undefined && isDone(current.state)) return current.seq;
    await pause(2);
  }
}
