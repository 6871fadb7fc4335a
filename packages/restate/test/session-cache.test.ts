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
  type FoldedSession,
  type RecordedInputs,
} from "@moora/agent";
import { rulesVersion } from "@moora/agent-core-state-machine";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { expect, it } from "vitest";
import { sessionCall } from "../src/ingress.ts";
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

/** What the object knows about a snapshot of this release. */
const about = ({ state, head }: FoldedSession, parts: number) => ({
  seq: head.seq,
  bytes: 1,
  parts,
  stateVersion: state.version,
  rules: rulesVersion,
});

const textOf = ({ state, head }: FoldedSession): string =>
  JSON.stringify({ state, head, rules: rulesVersion });

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
    cache: new SessionCache(sessionCall(ingressUrl, "clerk"), 1_000_000),
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
  const view = { header, snapshot: about(older, 1), records: [], seq: older.head.seq };
  await using ingress = await scriptedIngress({ view, part: textOf(older) });
  ingress.cache.keep("a", known(newer), 1);
  expect(await ingress.cache.readAt("a", older.head)).toEqual(known(older));
  expect(await ingress.cache.readAt("a", older.head)).toEqual(known(older));
  expect(ingress.calls.map(({ handler }) => handler)).toEqual(["view", "part"]);
});

it.each([
  ["another release", { stateVersion: 0 }],
  ["one with other rules", { rules: rulesVersion - 1 }],
])("folds a session from its records if %s has stored the snapshot", async (_, other) => {
  const snapshot = { ...about(older, 1), ...other };
  const view = { header, snapshot, records: newer.records, seq: newer.head.seq };
  await using ingress = await scriptedIngress({ view, records: allRecords });
  expect(await ingress.cache.readAt("a", newer.head)).toEqual(known(newer));
});

it("rejects a read at a head that the stored records do not contain", async () => {
  const view = { header, snapshot: about(older, 1), records: newer.records, seq: newer.head.seq };
  await using ingress = await scriptedIngress({ view, part: textOf(older) });
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

it("reads a session anew whose records do not continue the one that it has", async () => {
  await using ingress = await scriptedIngress({
    view: new InOrder(
      { records: newer.records.map((record) => ({ ...record, digest: "other" })), seq: newer.head.seq },
      { header, snapshot: about(start, 0), records: allRecords, seq: newer.head.seq },
    ),
  });
  ingress.cache.keep("a", known(older), 1);
  expect(await ingress.cache.readCurrent("a")).toEqual(known(newer));
  expect(ingress.calls.map(({ body }) => body !== null)).toEqual([true, false]);
});

const half = (text: string, index: number): string =>
  text.slice(index * Math.ceil(text.length / 2), (index + 1) * Math.ceil(text.length / 2));

it("reads a session that is too long for an answer in parts", async () => {
  const text = textOf(older);
  await using ingress = await scriptedIngress({
    view: { header, snapshot: about(older, 2), records: [], seq: newer.head.seq },
    part: new InOrder(half(text, 0), half(text, 1)),
    records: newer.records,
  });
  expect(await ingress.cache.readCurrent("a")).toEqual(known(newer));
  expect(ingress.calls.map(({ handler }) => handler)).toEqual(["view", "part", "part", "records"]);
});

it("reads a snapshot again that another one replaced while it was read", async () => {
  const seq = newer.head.seq;
  await using ingress = await scriptedIngress({
    view: new InOrder(
      { header, snapshot: about(older, 2), records: newer.records, seq },
      { header, snapshot: about(newer, 1), records: [], seq },
    ),
    part: new InOrder("{", null, textOf(newer)),
  });
  expect(await ingress.cache.readAt("a", newer.head)).toEqual(known(newer));
});

it("rejects a read of a snapshot that is replaced each time", async () => {
  await using ingress = await scriptedIngress({
    view: { header, snapshot: about(older, 2), records: [], seq: newer.head.seq },
    part: null,
  });
  await expect(ingress.cache.readAt("a", newer.head)).rejects.toThrow("was replaced while it was read");
});
