import nodeFileSystem from "node:fs";
import { LogError, type EventLog } from "@moora/event-log";
import { jsonlLog } from "@moora/event-log/jsonl";
import {
  failingFileSystem,
  withSessions,
  type FailingFileSystem,
  type FileFault,
} from "@moora/event-log/testing";
import { describe, expect, it } from "vitest";
import {
  openSession,
  stateAt,
  verifySession,
  type Agent,
  type DurableSession,
  type ErrorReport,
} from "../../src/index.ts";
import { Counter } from "@moora/testbed/durable/counter";
import { call, countingAgent, scripted } from "@moora/testbed/durable/counting-agent";
import { driveToEnd, quiet } from "@moora/testbed/durable/drive";
import { Life } from "@moora/testbed/durable/mortal-log";
import { outcomeOf, problemsAfter } from "@moora/testbed/durable/outcome";
import { Place } from "@moora/testbed/durable/places";
import { isProof } from "@moora/testbed/sample";
import type { Transcript } from "@moora/testbed/durable/transcripts/transcript";
import { TestClock } from "@moora/testbed/test-clock";

/** Ten turns of the model. */
const script = Array.from({ length: 9 }, (_, index) => [call(index % 2 === 0 ? "pay" : "send", index)]);
const said: Pick<Transcript, "says" | "decide"> = { says: ["Do it all."], decide: () => "approve" };

const agentOf = (counter: Counter): Agent =>
  countingAgent({ counter, life: new Life(), deeds: new Set() }, scripted(script));

/** A conversation on a disk that fails, healed when the failure was reported. */
async function livedThrough(place: Place, fault: FileFault) {
  using counter = new Counter();
  const clock = new TestClock();
  const disk = failingFileSystem(nodeFileSystem, fault);
  const refused: unknown[] = [];
  const ahead: number[] = [];
  /** A log without a lock, for what is stored while another one has the folder. */
  const stored = (): EventLog =>
    jsonlLog(place.path, { fs: { ...nodeFileSystem }, onNotice: () => undefined });
  const watch = (session: DurableSession): void =>
    void session.onInput((_input, _state, seq) => {
      const found = stored().open("ada");
      if (found instanceof Promise || Number(found?.head() ?? 0) < seq) ahead.push(seq);
    });
  const log = jsonlLog(place.path, { durability: "relaxed", fs: disk.fs, onNotice: () => undefined });
  const errors: unknown[] = [];
  const onError = ({ error }: ErrorReport): void => void errors.push(error);
  const open = (): Promise<DurableSession> =>
    openSession(agentOf(counter), { log, id: "ada", clock, owner: "host", onError });
  const session = await open().catch(async (error: unknown) => {
    refused.push(error);
    disk.heal();
    return await open();
  });
  watch(session);
  for (let isDone = false; !isDone;) {
    try {
      await driveToEnd(session, said, clock, () => healedWhenNoticed(session, disk, clock));
      isDone = true;
    } catch (error) {
      refused.push(error);
      disk.heal();
    }
  }
  const { lastError } = session.info();
  await session.close();
  const { streaming: _, ...state } = session.current();
  await log.close();
  await using real = jsonlLog(place.path, { onNotice: () => undefined });
  const report = await verifySession(real, "ada");
  return {
    state,
    stored: (await stateAt(real, "ada")).state,
    report,
    refused,
    errors,
    ahead,
    lastError,
    runs: counter.runs.length,
    calls: disk.calls(),
  };
}

function healedWhenNoticed(session: DurableSession, disk: FailingFileSystem, clock: TestClock): boolean {
  if (session.info().lastError === undefined) return false;
  disk.heal();
  void clock.advanceAsync(20_000);
  return false;
}

const codes: readonly FileFault["code"][] = ["EIO", "ENOSPC", "EACCES", "EDQUOT", "short"];

describe("(B06) a disk that fails at any of its calls", () => {
  it.each([
    ["once", false],
    ["until it is mended", true],
  ])(
    "%s: failures have a name, no process sees more than is stored, and the conversation ends as without",
    async (_, isSticky) => {
      using unharmed = new Place();
      const whole = await livedThrough(unharmed, {
        call: Number.MAX_SAFE_INTEGER,
        code: "EIO",
        isSticky: false,
      });
      let failures = 0;
      for (let nth = 1; nth <= whole.calls; nth += isProof ? 1 : 3) {
        for (const code of isProof ? codes : codes.slice(nth % codes.length).slice(0, 1)) {
          using place = new Place();
          const at = `${code} at call ${nth}`;
          const ran = await livedThrough(place, { call: nth, code, isSticky });
          for (const error of ran.refused)
            expect(error, at).toMatchObject({ name: "LogError", code: "LogWrite" });
          for (const error of ran.errors) expect(error, at).toBeInstanceOf(LogError);
          if (ran.lastError !== undefined) expect(ran.lastError, at).toBeInstanceOf(LogError);
          failures += ran.refused.length + (ran.lastError === undefined ? 0 : 1);
          expect(ran.ahead, at).toEqual([]);
          expect(ran.report, at).toMatchObject({ ok: true });
          expect(ran.stored, at).toEqual(ran.state);
          expect(outcomeOf(ran.state), at).toEqual(outcomeOf(whole.state));
          expect(problemsAfter(ran.state), at).toEqual([]);
          expect(ran.runs, at).toBe(whole.runs);
        }
      }
      expect(failures).toBeGreaterThan(isSticky ? whole.calls / 10 : 3);
    },
  );
});

describe("(B08) a sync that fails after a write", () => {
  it("acknowledges nothing until the log was opened again and looked at", async () => {
    using place = new Place();
    using counter = new Counter();
    const clock = new TestClock();
    const opens: string[] = [];
    let fails = false;
    const fs = {
      ...nodeFileSystem,
      fdatasyncSync(fd: number) {
        if (fails) throw Object.assign(new Error("EIO"), { code: "EIO" });
        nodeFileSystem.fdatasyncSync(fd);
      },
    };
    const inner = jsonlLog(place.path, { fs, onNotice: () => undefined });
    const log = withSessions(inner, () => ({}), { open: (id) => (opens.push(id), inner.open(id)) });
    const session = await openSession(agentOf(counter), { log, id: "ada", clock });
    const { seq } = session.info();
    opens.length = 0;
    fails = true;
    await expect(session.send("Hello?")).rejects.toMatchObject({ code: "LogWrite" });
    expect(session.info().seq).toBe(seq);
    expect(session.current().messages).toEqual([]);
    fails = false;
    expect(await session.send("Hello again?")).toEqual({ status: "accepted", seq: seq + 1 });
    expect(opens.length).toBeGreaterThan(0);
    await quiet(session);
    expect(
      session
        .current()
        .messages.filter(({ role }) => role === "user")
        .map(({ content }) => content),
    ).toEqual(["Hello again?"]);
    await session.close();
    expect(await verifySession(inner, "ada")).toMatchObject({ ok: true });
    await inner.close();
  });
});
