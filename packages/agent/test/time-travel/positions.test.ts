import { memoryLog } from "@moora/event-log";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { beforeAll, describe, expect, it } from "vitest";
import {
  defineAgent,
  diffSessions,
  exportSession,
  forkSession,
  openSession,
  readHeader,
  readSession,
  rerunSession,
  stateAt,
  verifySession,
} from "../../src/index.ts";

const agent = defineAgent({ llm: new MockLlmCaller(() => answers("Hello.")) });
const log = memoryLog();
let last = 0;

beforeAll(async () => {
  const session = await openSession(agent, { log, id: "ada" });
  await session.ask("Hi.");
  await session.close();
  last = (await readSession(log, "ada")).records.length;
});

/** A value as callers without types may pass it. */
const untyped = (value: unknown) => JSON.parse(JSON.stringify({ value })).value;

const atRecord: Readonly<Record<string, (seq: number) => Promise<unknown>>> = {
  stateAt: (seq) => stateAt(log, "ada", seq),
  forkSession: (seq) => forkSession(log, "ada", seq, { as: "fork", open: "rerun" }),
  exportSession: (seq) => exportSession(log, "ada", seq),
  diffSessions: (seq) => diffSessions({ log, id: "ada", seq }, { log, id: "ada" }),
  rerunSession: (from) => rerunSession(agent, log, "ada", { from }),
};

describe.each(Object.entries(atRecord))("the position of %s", (_name, run) => {
  it("is refused behind the last record, which the error names", async () => {
    await expect(run(99)).rejects.toMatchObject({
      name: "SessionError",
      code: "InvalidOption",
      seq: last,
      message: `The session has no record 99. The last one is ${last}.`,
    });
  });

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, untyped("3")])(
    "is refused where it is %s",
    async (seq) => {
      await expect(run(seq)).rejects.toMatchObject({
        name: "SessionError",
        code: "InvalidOption",
        message: expect.stringMatching(/^(seq|from) must be /),
      });
    },
  );
});

describe("the position of a rerun", () => {
  it("is required", async () => {
    await expect(rerunSession(agent, log, "ada", untyped({}))).rejects.toMatchObject({
      code: "InvalidOption",
      message:
        "from is missing. Give the record after which the rerun begins; 0 runs the whole conversation again.",
    });
  });
});

describe("the id of a session", () => {
  const calls: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
    openSession: (id) => openSession(agent, { log, id }),
    verifySession: (id) => verifySession(log, id),
    readHeader: (id) => readHeader(log, id),
    stateAt: (id) => stateAt(log, id),
    exportSession: (id) => exportSession(log, id),
  };

  it.each(Object.entries(calls))("is missing where %s does not get it", async (_name, run) => {
    await expect(run(untyped(undefined))).rejects.toMatchObject({
      name: "SessionError",
      code: "InvalidOption",
      message: "id is missing. Give the id of the session in the log.",
    });
    await expect(run(untyped(7))).rejects.toMatchObject({
      code: "InvalidOption",
      message: "id must be a string, got 7.",
    });
  });
});
