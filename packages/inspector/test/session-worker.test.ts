import { parsePortable, recordsToPortable } from "@moora/agent";
import { chainStart, recordAfter } from "@moora/event-log";
import { asked, callsMade, llmStarted, opened } from "@moora/agent-testing";
import { describe, expect, it } from "vitest";
import { SessionWorker } from "../src/worker/session-worker.ts";
import type { WorkerEvent } from "../src/worker/protocol.ts";
import { exportOf, exportOfInputs } from "./support.ts";

const scene = (name: string) => sceneOf(exportOf(name));

async function sceneOf(text: string): Promise<{ worker: SessionWorker; events: readonly WorkerEvent[] }> {
  const events: WorkerEvent[] = [];
  const worker = new SessionWorker(
    (event) => void events.push(event),
    async () => undefined,
  );
  await worker.handlers.open(text);
  return { worker, events };
}

describe("the worker", () => {
  it("reports all rows and spans while it opens a session, and answers with a summary", async () => {
    const { worker, events } = await scene("two-hundred-turns");
    const rows = events.flatMap((event) => (event.event === "rows" ? event.rows : []));
    expect(rows.map(({ seq }) => seq)).toEqual(Array.from({ length: rows.length }, (_, index) => index + 1));
    expect(events[0]).toEqual({ event: "opening", id: "recorded", total: rows.length });
    expect((await worker.handlers.view(3, 60)).seq).toBe(3);
  });

  it("checks all records after that", async () => {
    const { events } = await scene("two-hundred-turns");
    await new Promise((resolve) => setImmediate(resolve));
    const checks = events.flatMap((event) => (event.event === "checked" ? event.checks : []));
    expect(checks).toHaveLength(exportOf("two-hundred-turns").split("\n").length - 3);
    expect(new Set(checks)).toEqual(new Set(["valid"]));
  });

  const type = String.raw`\"type\":\"user-message-received\"`;

  it.each([
    ["has another type", type, type.replace("user-message-received", "<img src=x>")],
    ["has no fields", "user-message-received", "user"],
    ["has a content of another kind", String.raw`\"content\":\"`, String.raw`\"content\":[],\"x\":\"`],
  ])(
    "says of a changed record that it was changed, not that its release is newer: it %s",
    async (_what, from, to) => {
      const { worker } = await scene("twenty-steps");
      const text = exportOf("twenty-steps");
      expect(text).toContain(from);
      const { problem, records } = await worker.handlers.open(text.replace(from, to));
      expect(problem).toMatch(/^Record \d+ cannot be read, and its digest is wrong: it was changed/);
      expect(problem).not.toContain("newer release");
      expect(problem).toContain(`Record ${records + 1} `);
    },
  );

  it("says of an intact record of an unknown type that its release is newer", async () => {
    const { worker } = await scene("twenty-steps");
    const { id, header } = parsePortable(exportOf("twenty-steps"));
    const record = recordAfter(chainStart(header), '{"type":"of-a-later-release","timestamp":1}', "none");
    const text = recordsToPortable({ id, header, records: [record] });
    expect((await worker.handlers.open(text)).problem).toMatch(/^Record 1 was written by a newer release/);
  });

  it("adds streamed records once and in order", async () => {
    const { worker, events } = await scene("twenty-steps");
    const { seq = 0 } = events.flatMap((event) => (event.event === "rows" ? event.rows : [])).at(-1) ?? {};
    const record = (at: number) => ({ seq: at, body: '{"type":"session-opened","owner":"b","timestamp":9}' });
    await worker.handlers.append([record(seq + 1), record(seq + 1), record(seq + 3)]);
    const added = events.flatMap((event) => (event.event === "rows" ? event.rows : [])).slice(seq);
    expect(added.map((row) => row.seq)).toEqual([seq + 1]);
  });

  it("knows which calls are open after the last record, whatever has ended them", async () => {
    const { worker } = await sceneOf(
      exportOfInputs([
        opened("server"),
        asked("Refund it."),
        llmStarted("plan/1/1/1"),
        callsMade("plan/1/1/1", { call_1: { name: "refund" } }),
      ]),
    );
    expect(await worker.handlers.openCalls(["call_1", "call_2"])).toEqual(["call_1"]);
    const cancelled = { type: "re-act-cancelled", timestamp: 9 };
    await worker.handlers.append([{ seq: 5, body: JSON.stringify(cancelled) }]);
    expect(await worker.handlers.openCalls(["call_1"])).toEqual([]);
  });

  it("refuses calls before a session is open, and files that are not sessions", async () => {
    const worker = new SessionWorker(
      () => undefined,
      async () => undefined,
    );
    expect(() => worker.handlers.view(0, 1)).toThrow("No session is open.");
    await expect(async () => worker.handlers.open("nothing")).rejects.toThrow("not an exported session");
  });
});
