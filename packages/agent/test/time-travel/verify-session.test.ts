import { memoryLog, MemoryStorage } from "@moora/event-log";
import { rulesVersion, type AgentState } from "@moora/agent-core-state-machine";
import { describe, expect, it } from "vitest";
import {
  exportSession,
  openSession,
  parsePortable,
  recordsToPortable,
  SessionError,
  stateAt,
  textToHeader,
  verifySession,
} from "../../src/index.ts";
import { HeardErrors } from "@moora/testbed/durable/errors";
import { call } from "@moora/testbed/durable/counting-agent";
import { quiet } from "@moora/testbed/durable/drive";
import { sceneOf, type Scene } from "@moora/testbed/durable/scene";
import { recordsOf, rewriteSession, recordSession } from "./record-session.ts";

const script = [[call("look"), call("pay")], [call("pay", 2)]];

/** A digest of other changes, by the rules of this release. */
const otherwise = `${rulesVersion}-of_a_change`;

async function recorded(): Promise<Scene> {
  const scene = sceneOf(script);
  await recordSession(scene);
  return scene;
}

describe("verifying a session", () => {
  it("finds it sound, and says where it ends", async () => {
    const scene = await recorded();
    const last = (await recordsOf(scene.log())).at(-1);
    expect(await verifySession(scene.log(), "ada")).toEqual({
      ok: true,
      seq: last?.seq,
      digest: last?.digest,
      unfinishedBytes: 0,
      foldedByOtherRules: 0,
    });
  });

  it("verifies the facts of records that were folded by other rules, and does not compare what they changed", async () => {
    const log = (await recorded()).log();
    const records = await recordsOf(log);
    const older = `${rulesVersion - 1}-of_a_change`;
    const newer = `${rulesVersion + 1}-of_a_change`;
    const formerly = "of_format_1";
    const checks = [older, newer, formerly];
    await rewriteSession(log, "others", ({ seq, body, changesDigest }) => ({
      body,
      changesDigest: checks[seq - 1] ?? changesDigest,
    }));
    const report = await verifySession(log, "others");
    expect(report).toMatchObject({ ok: true, seq: records.length, foldedByOtherRules: 3 });
  });

  it.each(["", "2", "2-of_a_chang", "no digest at all"])(
    "names a record with another text than a digest of changes: %j",
    async (changesDigest) => {
      const log = (await recorded()).log();
      await rewriteSession(log, "others", ({ seq, body, changesDigest: own }) => ({
        body,
        changesDigest: seq === 2 ? changesDigest : own,
      }));
      expect(await verifySession(log, "others")).toMatchObject({ ok: false, seq: 2, reason: "differs" });
    },
  );

  it("says by which rules a session was created, and by which it was opened", async () => {
    const log = (await recorded()).log();
    expect(textToHeader((await log.open("ada"))?.header ?? "").rules).toBe(rulesVersion);
    const [opened] = await recordsOf(log);
    expect(JSON.parse(opened?.body ?? "")).toMatchObject({ type: "session-opened", rules: rulesVersion });
  });

  it("names the first record that changes something else than when it was written, and what it changes now (L03)", async () => {
    const log = (await recorded()).log();
    const records = await recordsOf(log);
    for (const { seq, body, changesDigest } of records) {
      const as = `from ${seq}`;
      await rewriteSession(log, as, (record) =>
        record.seq < seq ? record : { ...record, changesDigest: otherwise },
      );
      const report = await verifySession(log, as);
      expect(report).toMatchObject({
        ok: false,
        seq,
        reason: "differs",
        input: JSON.parse(body),
        expected: otherwise,
        found: changesDigest,
      });
      // What has no consequence changes the time of the last change only, which is not a part of the digest.
      if (!body.includes("snapshot-taken")) expect(report.ok ? [] : report.changes).not.toEqual([]);
    }
  });

  it("shows what a record that was meddled with makes of the state, beside the one that it should be", async () => {
    const log = (await recorded()).log();
    const records = await recordsOf(log);
    const completed = records.find(({ body }) => body.includes("tool-call-completed"));
    const forged = (body: string): string => body.replace(String.raw`{\"look\":1}`, String.raw`{\"look\":9}`);
    await rewriteSession(log, "forged", ({ body, changesDigest }) => ({ body: forged(body), changesDigest }));
    const report = await verifySession(log, "forged");
    expect(report).toMatchObject({ ok: false, seq: completed?.seq, reason: "differs" });
    expect(report.ok ? [] : report.changes).toContainEqual(
      expect.objectContaining({
        op: "put-call",
        id: "call_1",
        record: expect.objectContaining({ result: expect.objectContaining({ content: '{"look":9}' }) }),
      }),
    );
  });

  it("finds damaged bytes at their place", async () => {
    const storage = new MemoryStorage();
    const scene = sceneOf(script, {}, { log: () => memoryLog(storage) });
    await recordSession(scene);
    const generation = storage.generations.get("ada");
    const whole = generation?.records ?? [];
    for (let index = 0; index < whole.length; index += 1) {
      if (generation === undefined) continue;
      generation.records = whole.map((record, at) =>
        at === index ? { ...record, body: record.body.replace("timestamp", "timestomp") } : record,
      );
      expect(await verifySession(scene.log(), "ada")).toMatchObject({
        ok: false,
        seq: index + 1,
        reason: "damaged",
      });
    }
  });

  it.each<[string, (body: string) => string]>([
    ["a type of input", (body) => body.replace("tool-call-completed", "tool-call-blessed")],
    ["a version of records", (body) => body.replace("{", '{"v":2,')],
  ])(
    "distinguishes the work of a newer release from damage, and does not change it: %s that it does not know (L02)",
    async (_, change) => {
      const scene = await recorded();
      const log = scene.log();
      const newer = (await recordsOf(log)).find(({ body }) => change(body) !== body);
      const seq = newer?.seq ?? 0;
      await rewriteSession(log, "newer", (record) =>
        record.seq === seq ? { ...record, body: change(record.body) } : record,
      );
      expect(await verifySession(log, "newer")).toMatchObject({ ok: false, seq, reason: "unsupported" });
      const before = JSON.stringify(await recordsOf(log, "newer"));
      const errors = new HeardErrors();
      const options = { log, id: "newer", clock: scene.clock, onError: errors.onError };
      const session = await openSession(scene.agent, options);
      expect(session.info()).toMatchObject({ access: "read", seq: seq - 1 });
      await expect(session.send("Hello?")).rejects.toMatchObject({ code: "UnsupportedVersion", seq });
      await session.close();
      expect(errors.codes).toEqual(["UnsupportedVersion"]);
      await expect(stateAt(log, "newer")).rejects.toMatchObject({ code: "UnsupportedVersion", seq });
      expect((await stateAt(log, "newer", seq - 1)).seq).toBe(seq - 1);
      expect(JSON.stringify(await recordsOf(log, "newer"))).toBe(before);
    },
  );

  it("refuses a log of a newer format as a whole, and does not call it damaged (L02)", async () => {
    const storage = new MemoryStorage();
    const scene = sceneOf(script, {}, { log: () => memoryLog(storage) });
    await recordSession(scene);
    const log = scene.log();
    const header = (await log.open("ada"))?.header ?? "";
    await log.create("newer", header.replace('"format":2', '"format":3'));
    // Its records are chained in another way.
    const records = await recordsOf(log);
    const generation = storage.generations.get("newer");
    if (generation !== undefined) generation.records = [...records];
    expect(await verifySession(log, "newer")).toMatchObject({ ok: false, seq: 0, reason: "unsupported" });
    const unsupported = { code: "UnsupportedVersion" };
    await expect(scene.open({ id: "newer", log })).rejects.toMatchObject(unsupported);
    await expect(exportSession(log, "newer")).rejects.toMatchObject(unsupported);
    await expect(stateAt(log, "newer")).rejects.toMatchObject(unsupported);
    const exported = await exportSession(log, "ada");
    const newer = exported.replace("moora/session/1", "moora/session/2");
    expect(() => parsePortable(newer)).toThrow(expect.objectContaining(unsupported));
    const recordsOfNewer = { id: "newer", header: header.replace('"format":2', '"format":3'), records };
    expect(() => parsePortable(recordsToPortable(recordsOfNewer))).toThrow(
      expect.objectContaining(unsupported),
    );
    expect(generation?.records).toEqual(records);
  });

  it("rejects for a session that is not there", async () => {
    await expect(verifySession(memoryLog(), "no-reviewer")).rejects.toThrow(SessionError);
    await expect(verifySession(memoryLog(), "no-reviewer")).rejects.toMatchObject({ code: "SessionUnknown" });
  });
});

describe("a session at any of its positions", () => {
  it("is what it was then", async () => {
    const scene = sceneOf(script);
    const session = await scene.open();
    const states = new Map<number, AgentState>();
    session.onInput((_input, state, seq) => states.set(seq, state));
    await session.send("Please.");
    await quiet(session);
    await session.close();
    expect(states.size).toBeGreaterThan(8);
    for (const [seq, state] of states)
      expect(await stateAt(scene.log(), "ada", seq)).toMatchObject({ seq, state });
    const { seq } = session.info();
    const positions = [0, seq, undefined].map(
      async (position) => (await stateAt(scene.log(), "ada", position)).seq,
    );
    expect(await Promise.all(positions)).toEqual([0, seq, seq]);
    const { moves } = await stateAt(scene.log(), "ada");
    expect(moves.at(-1)).toMatchObject({ event: "LlmFinalAnswer", to: "Done" });
  });
});
