import { once } from "node:events";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import {
  defineAgent,
  foldHeader,
  newSessionHeader,
  recordInputs,
  releaseInputs,
  userMessage,
  type AgentState,
  type FoldedSession,
  type RecordedInputs,
} from "@moora/agent";
import { rulesVersion } from "@moora/agent-core-state-machine";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { expect, it } from "vitest";
import { SessionCache } from "../src/session-cache.ts";

const agent = defineAgent({ name: "clerk", llm: new MockLlmCaller([answers("")]) });
const header = newSessionHeader(agent, "first");
const start = foldHeader(header);

const withMessage = (session: FoldedSession, content: string): RecordedInputs =>
  recordInputs(session, [userMessage(content)]);

const configured = recordInputs(start, releaseInputs(agent, start.state, 1));
const older = withMessage(configured, "Hello.");
const newer = withMessage(older, "Again.");
const allRecords = [...configured.records, ...older.records, ...newer.records];

const known = ({ state, head }: FoldedSession, of = header) => ({
  header: of,
  session: { state, head, rules: rulesVersion },
});

/** What a later release would have folded. */
const ofOtherRelease = (state: AgentState) => ({ ...state, version: 2 });

interface Call {
  readonly handler: string;
  readonly body: unknown;
}

/** An ingress whose handlers answer with values. `calls` has what they were asked. */
interface ScriptedIngress extends AsyncDisposable {
  readonly calls: readonly Call[];
  readonly cache: SessionCache;
}

/** Answers of a handler, of which the last one is repeated. */
class InOrder {
  readonly #values: unknown[];

  constructor(...values: readonly unknown[]) {
    this.#values = [...values];
  }

  next(): unknown {
    return this.#values.length > 1 ? this.#values.shift() : this.#values[0];
  }
}

async function scriptedIngress(script: Readonly<Record<string, unknown>>): Promise<ScriptedIngress> {
  const calls: Call[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      const handler = request.url?.split("/").at(-1) ?? "";
      calls.push({ handler, body });
      response.statusCode = Object.hasOwn(script, handler) ? 200 : 404;
      const answer = script[handler];
      response.end(JSON.stringify((answer instanceof InOrder ? answer.next() : answer) ?? null));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const ingressUrl = typeof address === "object" ? `http://127.0.0.1:${address?.port}` : "";
  return {
    calls,
    cache: new SessionCache({ ingressUrl, service: "clerk-session", bytes: 1_000_000 }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

it("keeps the later state of a session", async () => {
  await using ingress = await scriptedIngress({});
  ingress.cache.keep("a", known(newer), 1);
  ingress.cache.keep("a", known(older), 1);
  expect(await ingress.cache.readAt("a", newer.head)).toEqual(known(newer));
  expect(ingress.calls).toEqual([]);
});

it("keeps an earlier state of another session with the id", async () => {
  await using ingress = await scriptedIngress({});
  const other = newSessionHeader(agent, "second");
  ingress.cache.keep("a", known(newer), 1);
  ingress.cache.keep("a", known(foldHeader(other), other), 1);
  expect(await ingress.cache.readAt("a", foldHeader(other).head)).toEqual(known(foldHeader(other), other));
  expect(ingress.calls).toEqual([]);
});

it("replaces a state after the head of the object, which was not stored", async () => {
  const stored = {
    header,
    snapshot: { state: older.state, head: older.head, rules: rulesVersion },
    records: [],
  };
  await using ingress = await scriptedIngress({ stored });
  ingress.cache.keep("a", known(newer), 1);
  expect(await ingress.cache.readAt("a", older.head)).toEqual(known(older));
  expect(await ingress.cache.readAt("a", older.head)).toEqual(known(older));
  expect(ingress.calls).toHaveLength(1);
});

it("does not continue a state that another release has folded", async () => {
  const state = ofOtherRelease(newer.state);
  const { seq, digest } = newer.head;
  await using ingress = await scriptedIngress({ view: { header, state, seq, digest } });
  expect((await ingress.cache.readCurrent("a"))?.session.state).toEqual(state);
  expect((await ingress.cache.readCurrent("a"))?.session.state).toEqual(state);
  expect(ingress.calls.map(({ body }) => body)).toEqual([null, null]);
});

it.each([
  ["another release", { state: ofOtherRelease(older.state), head: older.head, rules: rulesVersion }],
  ["one with other rules", { state: older.state, head: older.head, rules: rulesVersion - 1 }],
  ["one before rules had a version", { state: older.state, head: older.head }],
])("folds a session from its records if %s has stored the snapshot", async (_, snapshot) => {
  await using ingress = await scriptedIngress({
    stored: { header, snapshot, records: newer.records },
    records: allRecords,
  });
  expect(await ingress.cache.readAt("a", newer.head)).toEqual(known(newer));
});

it("rejects records that do not lead to a head", async () => {
  await using ingress = await scriptedIngress({ records: allRecords });
  const { seq } = newer.head;
  const read = ingress.cache.readFromHeader("a", { header, head: { seq, digest: older.head.digest } });
  await expect(read).rejects.toThrow(`do not lead to its record ${seq}.`);
});

it("rejects a read at a head that the stored records do not contain", async () => {
  await using ingress = await scriptedIngress({
    stored: {
      header,
      snapshot: { state: older.state, head: older.head, rules: rulesVersion },
      records: newer.records,
    },
  });
  const head = { seq: newer.head.seq, digest: older.head.digest };
  await expect(ingress.cache.readAt("a", head)).rejects.toThrow("another run has replaced this one");
});

it("reads the records after those that fit the answer", async () => {
  const [first, ...others] = newer.records;
  await using ingress = await scriptedIngress({
    view: { records: older.records, seq: newer.head.seq },
    records: new InOrder(first === undefined ? [] : [first], others),
  });
  ingress.cache.keep("a", known(configured), 1);
  expect(await ingress.cache.readCurrent("a")).toEqual(known(newer));
  expect(ingress.calls[1]).toEqual({
    handler: "records",
    body: { after: older.head.seq, limit: newer.head.seq - older.head.seq },
  });
});

const half = (text: string, index: number): string =>
  text.slice(index * Math.ceil(text.length / 2), (index + 1) * Math.ceil(text.length / 2));

it("reads a session that is too long for an answer in parts", async () => {
  const text = JSON.stringify({ state: older.state, head: older.head, rules: rulesVersion });
  await using ingress = await scriptedIngress({
    view: {},
    stored: { header, parts: 2, at: older.head.seq, seq: newer.head.seq },
    part: new InOrder(half(text, 0), half(text, 1)),
    records: newer.records,
  });
  expect(await ingress.cache.readCurrent("a")).toEqual(known(newer));
  expect(ingress.calls.map(({ handler }) => handler)).toEqual(["view", "stored", "part", "part", "records"]);
});

it("reads a snapshot again that another one replaced while it was read", async () => {
  const stored = {
    header,
    snapshot: { state: newer.state, head: newer.head, rules: rulesVersion },
    records: [],
  };
  await using ingress = await scriptedIngress({
    stored: new InOrder({ header, parts: 2, at: older.head.seq, seq: newer.head.seq }, stored),
    part: new InOrder("{", null),
  });
  expect(await ingress.cache.readAt("a", newer.head)).toEqual(known(newer));
});

it("rejects a read of a snapshot that is replaced each time", async () => {
  await using ingress = await scriptedIngress({
    stored: { header, parts: 2, at: older.head.seq, seq: newer.head.seq },
    part: null,
  });
  await expect(ingress.cache.readAt("a", newer.head)).rejects.toThrow("was replaced while it was read");
});
