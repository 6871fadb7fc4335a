import { EventReader, type ReadEvent } from "@moora/testbed/server/event-reader";
import type { Client } from "@moora/testbed/server/scene";
import { readAnswer, type Exchange } from "./exchange.ts";

interface RequestParts {
  readonly body?: unknown;
  readonly key?: string;
}

/** A client that records what it sends and gets. */
export class Recorder {
  readonly exchanges: Exchange[] = [];
  readonly #send: Client["send"];
  readonly #version: { readonly "moora-protocol": string };

  constructor({ send }: Client, version: number) {
    this.#send = send;
    this.#version = { "moora-protocol": String(version) };
  }

  /** Sends a request. Returns its answer; {} for one without a JSON value. */
  async exchange(
    method: string,
    path: string,
    { body, key }: RequestParts = {},
  ): Promise<Readonly<Record<string, unknown>>> {
    const headers = {
      ...this.#version,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(key === undefined ? {} : { "idempotency-key": key }),
    };
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await this.#send(path, { method, headers, ...init });
    const read = await readAnswer(response);
    this.exchanges.push({ method, path, headers, body, status: response.status, ...read });
    return Object(read.answer);
  }

  /** Sends a request whose answer has several values, and returns them. */
  async lines(method: string, path: string, body?: unknown): Promise<readonly object[]> {
    await this.exchange(method, path, { body });
    return (this.exchanges.at(-1)?.lines ?? []).map((line) => Object(line));
  }

  /** Reads a stream until a record of this type. */
  async stream(path: string, given: Readonly<Record<string, string>>, type: string): Promise<void> {
    const headers = { ...this.#version, ...given };
    const response = await this.#send(path, { headers });
    if (response.body === null) throw new Error("The response has no body.");
    await using reader = new EventReader(response.body);
    const events: ReadEvent[] = [];
    for (;;) {
      const event = await reader.next();
      if (event === undefined) throw new Error("The stream ended.");
      if (event.event !== "input") continue;
      events.push(event);
      if (JSON.parse(event.data).input.type === type) break;
    }
    this.exchanges.push({ method: "GET", path, headers, status: response.status, events });
  }
}
