import { describe, expect, it } from "vitest";
import { EventReader, type ReadEvent } from "@moora/testbed/server/event-reader";
import type { Client } from "@moora/testbed/server/scene";
import { conversations, trafficScene } from "./traffic/conversations.ts";
import { conversationIn, readAnswer, readTraffic, recordedFiles, type Exchange } from "./traffic/exchange.ts";

const madeAnew: ReadonlySet<string> = new Set([
  "id",
  "digest",
  "requestId",
  "session",
  "approvalId",
  "incarnation",
  "changesDigest",
]);

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
  if (events === undefined || response.body === null)
    return { status: response.status, ...(await readAnswer(response)) };
  await using reader = new EventReader(response.body);
  const read: ReadEvent[] = [];
  while (read.length < events.length) {
    const event = await reader.next();
    if (event === undefined) break;
    if (event.event === "input") read.push(event);
  }
  return { status: response.status, events: read };
}

/** The lines of an export, with the fields of what its texts contain. The format of logs is not that of the protocol. */
function storedFields(lines: Exchange["lines"]): unknown {
  if (lines === undefined) return undefined;
  return JSON.parse(JSON.stringify(lines), (key, value: unknown) => {
    if ((key !== "header" && key !== "body") || typeof value !== "string") return value;
    const { format: _, ...fields }: Record<string, unknown> = JSON.parse(value);
    return fields;
  });
}

/** What an exchange got, as values. */
const valuesOf = ({ answer, lines, events = [] }: Pick<Exchange, "answer" | "lines" | "events">): object => ({
  answer,
  lines: storedFields(lines),
  events: events.map(({ id, event, data }) => ({ id, event, data: JSON.parse(data) as unknown })),
});

/** A recorded answer; the `detail` of a problem, which is for people, may say more than was recorded. */
const withMoreDetail = (text: string): object =>
  JSON.parse(text, (key, value: unknown) =>
    key === "detail" && typeof value === "string" ? expect.stringContaining(value) : value,
  );

/** The conversation of a recorded file. */
const nameOf = (file: string) =>
  (Object.keys(conversations) as (keyof typeof conversations)[]).find(
    (name) => name === conversationIn(file),
  );

describe("the traffic of a client of an older release", () => {
  it("has a file for each conversation", () => {
    expect(new Set(recordedFiles().map(nameOf))).toEqual(new Set(Object.keys(conversations)));
  });

  it.each(recordedFiles())(
    "gets the same answers, with more fields and longer details at most: %s",
    async (file) => {
      const name = nameOf(file);
      if (name === undefined) throw new Error(`${file} is of no conversation.`);
      await using scene = trafficScene(name);
      const client = scene.as("ada");
      const names = new Names();
      const traffic = readTraffic(file);
      expect(traffic.length).toBeGreaterThan(4);
      for (const exchange of traffic) {
        const now = await repeat(client, exchange, names);
        const what = `${exchange.method} ${exchange.path}`;
        expect(now.status, what).toBe(exchange.status);
        names.learn(valuesOf(exchange), valuesOf(now));
        const expected = withMoreDetail(names.translate(JSON.stringify(valuesOf(exchange))));
        expect(valuesOf(now), what).toMatchObject(expected);
      }
    },
  );
});
