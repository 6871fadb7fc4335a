import { protocolVersion } from "@moora/agent-webui-protocol";
import { describe, expect, it } from "vitest";
import { EventReader, type Client, type ReadEvent } from "./support.ts";
import { comparedPart, readTraffic, trafficScene, type Exchange } from "./traffic/exchange.ts";

const madeAnew: ReadonlySet<string> = new Set(["id", "digest", "requestId"]);

/** The names that the server makes anew: those in the traffic, and what they are now. */
class Names {
  readonly #now = new Map<string, string>();

  /** A text of the traffic as it is now. */
  translate(text: string): string {
    return [...this.#now].reduce((sum, [recorded, now]) => sum.replaceAll(recorded, now), text);
  }

  /** Learns the ids and digests of an answer. */
  learn(recorded: unknown, now: unknown): void {
    if (typeof recorded !== "object" || recorded === null) return;
    for (const [key, value] of Object.entries(recorded)) {
      const other: unknown = Object(now)[key];
      if (madeAnew.has(key) && typeof value === "string" && typeof other === "string")
        this.#now.set(value, other);
      else this.learn(value, other);
    }
  }
}

/** Sends a recorded request, and returns what it gets now. */
async function repeat(client: Client, { method, path, headers, body, events }: Exchange, names: Names) {
  const init = body === undefined ? {} : { body: names.translate(JSON.stringify(body)) };
  const response = await client.send(names.translate(path), { method, headers, ...init });
  if (events === undefined || response.body === null) {
    const text = await response.text();
    return { status: response.status, answer: text === "" ? undefined : comparedPart(JSON.parse(text)) };
  }
  await using reader = new EventReader(response.body);
  const read: ReadEvent[] = [];
  while (read.length < events.length) {
    const event = await reader.next();
    if (event === undefined) break;
    if (event.event === "input") read.push(event);
  }
  return { status: response.status, events: read };
}

const parsed = (events: readonly ReadEvent[] = []): readonly object[] =>
  events.map(({ id, event, data }) => ({ id, event, data: JSON.parse(data) as unknown }));

describe("the traffic of a client of an older release", () => {
  it.each([protocolVersion])(
    "gets the same answers, with more fields at most: protocol %d",
    async (version) => {
      await using scene = trafficScene();
      const client = scene.as("ada");
      const names = new Names();
      const traffic = readTraffic(version);
      expect(traffic.length).toBeGreaterThan(20);
      for (const exchange of traffic) {
        const now = await repeat(client, exchange, names);
        const what = `${exchange.method} ${exchange.path}`;
        expect(now.status, what).toBe(exchange.status);
        names.learn(exchange.answer ?? parsed(exchange.events), now.answer ?? parsed(now.events));
        const expected = JSON.parse(
          names.translate(JSON.stringify({ answer: exchange.answer, events: parsed(exchange.events) })),
        );
        expect({ answer: now.answer, events: parsed(now.events) }, what).toMatchObject(expected);
      }
    },
  );
});
