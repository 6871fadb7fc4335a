import type { EventLog } from "@moora/event-log";
import { jsonlLog } from "@moora/event-log/jsonl";
import { sqliteLog } from "@moora/event-log/sqlite";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { TemporaryDirectory } from "@moora/testbed/stores";
import { untilPasses } from "@moora/testbed/test-clock";
import { afterEach, describe, expect, it, vi } from "vitest";
import { defineAgent, openSession, type ErrorReport } from "../../src/index.ts";
import { settled } from "../support.ts";

const printed = vi.spyOn(console, "error").mockReturnValue(undefined);
afterEach(() => printed.mockClear());

const message = "The log is closed. Close the sessions of a log before the log.";

async function askOnce(log: EventLog) {
  const agent = defineAgent({ llm: new MockLlmCaller([answers("Hello.")]) });
  const session = await openSession(agent, { log, id: "ada" });
  await session.ask("Hi.");
  return session;
}

describe("a log that is closed before its session", () => {
  it("is one printed error, which says what to close first", async () => {
    using directory = new TemporaryDirectory();
    const log = jsonlLog(directory.path);
    const session = await askOnce(log);
    await log.close();
    await session.close();
    await untilPasses(() => expect(printed).toHaveBeenCalled());
    expect(printed).toHaveBeenCalledExactlyOnceWith(
      expect.stringContaining('Session "ada" (log)'),
      expect.objectContaining({ code: "LogWrite", message }),
    );
  });

  it.each<[string, (directory: TemporaryDirectory) => EventLog]>([
    ["jsonl", ({ path }) => jsonlLog(path)],
    ["sqlite", (directory) => sqliteLog(directory.file("log.db"))],
  ])("reports nothing else to onError, and the session closes: %s", async (_, open) => {
    using directory = new TemporaryDirectory();
    const log = open(directory);
    const session = await askOnce(log);
    const reports: ErrorReport[] = [];
    session.onError((report) => reports.push(report));
    await log.close();
    await session.close();
    expect(new Set(reports.map(({ error }) => String(error)))).toEqual(new Set([`LogError: ${message}`]));
  });
});

describe("a log and its session in one block of `await using`", () => {
  it("are closed in the right order at its end", async () => {
    using directory = new TemporaryDirectory();
    {
      await using log = jsonlLog(directory.path);
      const agent = defineAgent({ llm: new MockLlmCaller([answers("Hello.")]) });
      await using session = await openSession(agent, { log, id: "ada" });
      await session.ask("Hi.");
    }
    await settled();
    expect(printed).not.toHaveBeenCalled();
    await using log = jsonlLog(directory.path);
    await using session = await openSession(defineAgent({ llm: new MockLlmCaller([answers("Yes.")]) }), {
      log,
      id: "ada",
      access: "read",
    });
    expect(session.current().messages.map(({ content }) => content)).toEqual(["Hi.", "Hello."]);
  });
});
