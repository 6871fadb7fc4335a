import { memoryLog, MemoryStorage, type EventLog } from "@moora/event-log";
import { hangs, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { openSession, type DurableSession, type OpenOptions } from "../../src/index.ts";
import { failureOf } from "../support.ts";
import { HeardErrors } from "@moora/testbed/durable/errors";
import { Counter } from "@moora/testbed/durable/counter";
import { call, countingAgent, scripted, type Script } from "@moora/testbed/durable/counting-agent";
import { quiet } from "@moora/testbed/durable/drive";
import { Life } from "@moora/testbed/durable/mortal-log";
import { Gates, remoteLog } from "@moora/testbed/durable/remote-log";
import { checkSound } from "@moora/testbed/durable/scene";
import { turn, TestClock } from "@moora/testbed/test-clock";

interface Far {
  readonly near: EventLog;
  readonly gates: Gates;
  readonly clock: TestClock;
  readonly counter: Counter;
  open(options?: Partial<OpenOptions>): Promise<DurableSession>;
}

/** A session whose log is far away, and the same log near by. */
function sceneOf(script: Script = [], llm = scripted(script)): Far {
  const storage = new MemoryStorage();
  const near = memoryLog(storage);
  const gates = new Gates();
  const [clock, counter] = [new TestClock(), new Counter()];
  const agent = countingAgent({ counter, life: new Life(), deeds: new Set() }, llm);
  const open = (options: Partial<OpenOptions> = {}): Promise<DurableSession> =>
    openSession(agent, { log: remoteLog(near, gates.pass), id: "ada", clock, ...options });
  return { near, gates, clock, counter, open };
}

/** A message while the model is at work: it waits in the queue, and nothing else happens. */
const noted = (text: string) => ({
  type: "user-message-received",
  messageId: text,
  content: text,
  timestamp: 1,
});

/** As long as it takes, while the clock stands still. */
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await turn();
};

describe("what comes while an append is under way", () => {
  it("goes together in the next one", async () => {
    const { near, gates, open } = sceneOf();
    await using session = await open();
    const gate = gates.hold("append", "there", "user-message-received");
    const first = session.send("one");
    await gate.reached;
    const rest = ["two", "three", "four"].map((content) => session.send(content));
    gate.open();
    const receipts = await Promise.all([first, ...rest]);
    const message = "user-message-received";
    expect(gates.appends.slice(1, 3)).toEqual([
      [message, "llm-call-started"],
      [message, message, message],
    ]);
    expect(receipts.map((receipt) => receipt.status === "accepted" && receipt.seq)).toEqual([2, 3, 4, 5]);
    await quiet(session);
    await checkSound(session, near);
  });

  it("is visible only when it is durable (V7)", async () => {
    const { near, gates, open } = sceneOf();
    await using session = await open();
    const gate = gates.hold("append", "back");
    const sent = session.send("one");
    await gate.reached;
    expect(session.current().messages).toEqual([]);
    expect(session.info().seq).toBe(1);
    gate.open();
    expect(await sent).toEqual({ status: "accepted", seq: 2 });
    await quiet(session);
    await checkSound(session, near);
  });

  it("is not taken for the input of another process when the log is read in the meantime", async () => {
    const { near, gates, open } = sceneOf();
    await using session = await open();
    const seen: number[] = [];
    session.onInput((_input, _state, seq) => seen.push(seq));
    const back = gates.hold("append", "back");
    const sent = session.send("one");
    await back.reached;
    const looked = session.refresh();
    for (let turns = 0; turns < 5; turns += 1) await turn();
    back.open();
    await Promise.all([sent, looked]);
    await quiet(session);
    expect(seen).toEqual(seen.map((_, index) => index + 2));
    await checkSound(session, near);
  });
});

describe("an append that breaks", () => {
  it.each([
    ["on its way: it is made again", "there"],
    ["on its way back: it is found to be there, and counts", "back"],
  ] as const)("%s; the tool that waits for its intent runs once", async (_, way) => {
    const { near, gates, counter, open } = sceneOf([[call("send")]]);
    await using session = await open();
    const intent = gates.hold("append", way, "tool-call-started");
    const run = session.ask("Send.");
    await intent.reached;
    intent.break();
    expect((await run).text).toBe("That is all that I have found out.");
    expect(counter.runs).toHaveLength(1);
    await checkSound(session, near);
  });

  it.each(["there", "back"] as const)(
    "on its way %s, and the log stays away: waiting callers get an error, and the work continues when it is back",
    async (way) => {
      const { near, gates, clock, counter, open } = sceneOf([[call("send")]]);
      const errors = new HeardErrors();
      const session = await open({ onError: errors.onError });
      const intent = gates.hold("append", way, "tool-call-started");
      const run = session.ask("Send.");
      await intent.reached;
      gates.isDown = true;
      intent.break();
      await expect(session.send("Are you there?")).rejects.toMatchObject({ code: "LogWrite" });
      const [error] = await Promise.all([failureOf(run), clock.advanceAsync(10_000)]);
      expect(error).toMatchObject({ kind: "MemoryError", cause: { code: "LogWrite" } });
      expect(counter.runs).toEqual([]);
      expect(session.info().lastError).toMatchObject({ code: "LogWrite" });
      gates.isDown = false;
      await clock.advanceAsync(10_000);
      await quiet(session);
      expect(counter.runs).toHaveLength(1);
      expect(session.current().reActContext.control.type).toBe("Done");
      expect(session.current().messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
      await checkSound(session, near);
      await session.close();
      expect(clock.waiting).toBe(0);
      expect(new Set(errors.codes)).toEqual(new Set(["LogWrite"]));
    },
  );

  it("when others append meanwhile: their inputs come in their place, and ours are not doubled", async () => {
    const { near, gates, clock, counter, open } = sceneOf([[call("send")]]);
    const errors = new HeardErrors();
    const session = await open({ onError: errors.onError });
    const other = await open({ log: near, access: "post" }).catch(() => undefined);
    expect(other).toBeDefined();
    const intent = gates.hold("append", "back", "tool-call-started");
    void session.ask("Send.").then(undefined, () => undefined);
    await intent.reached;
    gates.isDown = true;
    intent.break();
    await turn();
    await other?.dispatch(noted("From elsewhere."));
    await expect(session.dispatch(noted("From here."))).rejects.toMatchObject({ code: "LogWrite" });
    gates.isDown = false;
    await clock.advanceAsync(10_000);
    await quiet(session);
    // The other message is answered with a call of its own.
    expect(counter.runs.map(({ key }) => key.split("/").at(-1))).toEqual(["call_1", "call_2"]);
    const notes = session.current().messages.map(({ content }) => content);
    expect(notes).toContain("From elsewhere.");
    expect(notes).not.toContain("From here.");
    await other?.refresh();
    for (const one of [session, other]) if (one !== undefined) await checkSound(one, near);
    await Promise.all([session.close(), other?.close()]);
    expect(new Set(errors.codes)).toEqual(new Set(["LogWrite"]));
  });
});

describe("a session that is closed while an append is under way", () => {
  it("waits for it, and its snapshot belongs to its own record", async () => {
    const { near, gates, open, clock } = sceneOf([], new MockLlmCaller(() => hangs()));
    const session = await open();
    await session.send("Think.");
    await until(() => session.info().seq >= 2);
    const gate = gates.hold("append", "back");
    const noting = session.dispatch(noted("In time."));
    await gate.reached;
    const closed = session.close();
    await turn();
    gate.open();
    await closed;
    expect(await noting).toMatchObject({ status: "accepted" });
    const log = await near.open("ada");
    // What was under way when the snapshot was taken stands behind it, as does the record that confirms it.
    expect((await log?.snapshot())?.seq).toBe(Number(await log?.head()) - 2);
    await using again = await openSession(
      countingAgent({ counter: new Counter(), life: new Life(), deeds: new Set() }, scripted([])),
      {
        log: near,
        id: "ada",
        clock,
        access: "read",
      },
    );
    expect(again.info().snapshotIgnored).toBe(false);
    await checkSound(again, near);
  });
});
