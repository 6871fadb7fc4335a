import { memoryLog, type EventLog } from "@moora/event-log";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { longSession } from "@moora/testbed/long-session";
import { turnsOf } from "@moora/testbed/turns-of";
import { beforeAll, describe, expect, it } from "vitest";
import {
  defineAgent,
  diffSessions,
  exportSession,
  foldHeader,
  forkSession,
  importSession,
  openSession,
  parsePortable,
  readSession,
  rerunSession,
  stateAt,
  verifySession,
  type OpenWork,
} from "../../src/index.ts";
import { foldRecords } from "../../src/internal.ts";

const records = 2_100;
const agent = defineAgent({ name: "long", llm: new MockLlmCaller(() => answers("There is a lamp.")) });

describe("the event loop has turns while a long session", () => {
  let text = "";
  let log: EventLog = memoryLog();
  beforeAll(async () => {
    text = longSession(records);
    log = memoryLog();
    await importSession(log, text, "ada");
  });

  const fork = (as: string, open: OpenWork) => forkSession(log, "ada", records - 1, { as, open });
  const edited = () =>
    forkSession(log, "ada", records, { as: "edited", open: "close", edit: (input) => input });
  const opened = async () => await (await openSession(agent, { log, id: "ada", access: "read" })).close();
  const works: Readonly<Record<string, () => Promise<unknown>>> = {
    "is forked, and its open work is closed": () => fork("closed", "close"),
    "is forked, and its open work runs again": () => fork("rerun", "rerun"),
    "is forked, and its open work is reused": () => fork("reused", "reuse"),
    "is forked with edits": edited,
    "is folded up to a position": () => stateAt(log, "ada", records),
    "is read": () => readSession(log, "ada"),
    "is opened without a snapshot": opened,
    "is exported": () => exportSession(log, "ada"),
    "is verified": () => verifySession(log, "ada"),
    "is compared": () => diffSessions({ log, id: "ada" }, { log, id: "ada" }),
    "is read from its text": async () => await expect(importSession(log, text, "ada")).rejects.toThrow("ada"),
    "is followed": async () => {
      await using session = await openSession(agent, { log, id: "ada", access: "read" });
      await session.follow(0, () => undefined);
    },
    "has its history read": async () => {
      await using session = await openSession(agent, { log, id: "ada", access: "read" });
      await session.history();
    },
    "is folded by a host": async () => {
      const { header, records: all } = parsePortable(text);
      await foldRecords(foldHeader(header), all);
    },
    "is imported": () => importSession(log, text, "copy"),
    "is run again": () => rerunSession(agent, log, "ada", { from: records }),
  };

  it.each(Object.keys(works))("%s", async (name) => {
    expect(await turnsOf(works[name]?.() ?? Promise.resolve())).toBeGreaterThanOrEqual(records / 500);
  });
});
