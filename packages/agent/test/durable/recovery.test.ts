import { changeConfig } from "@moora/agent-core-state-machine/internal";
import { memoryLog, MemoryStorage } from "@moora/event-log";
import { answers, hangs, MockLlmCaller } from "@moora/llm/testing";
import type { LlmCaller, LlmRequest } from "@moora/llm";
import { describe, expect, it } from "vitest";
import {
  defineAgent,
  defineTool,
  openSession,
  readSession,
  stateAt,
  verifySession,
  type Agent,
  type Clock,
  type OpenOptions,
  type Tool,
} from "../../src/index.ts";
import { inputToRecord } from "../../src/durable/session-record.ts";
import { HeardErrors, printErrorsBut } from "@moora/testbed/durable/errors";
import { Counter } from "@moora/testbed/durable/counter";
import { call, countingAgent, scripted, type Script } from "@moora/testbed/durable/counting-agent";
import { quiet } from "@moora/testbed/durable/drive";
import { Life, mortalLog } from "@moora/testbed/durable/mortal-log";
import { storageOf, storeNames } from "@moora/testbed/durable/places";
import { checkSound, sceneOf } from "@moora/testbed/durable/scene";
import { turn, TestClock } from "@moora/testbed/test-clock";

/** A tool that ends when a test says so, whatever happens meanwhile; runs are counted. */
function heldTool(name: string, replay: "keyed" | "once") {
  const runs: { readonly of: number; readonly key: string; end(): void }[] = [];
  const tool: Tool = defineTool({
    name,
    description: "Takes its time.",
    input: { type: "object", properties: { of: { type: "number" } }, required: ["of"] },
    replay,
    timeoutMs: 3_600_000,
    async execute(args, { idempotencyKey }) {
      const held = Promise.withResolvers<void>();
      const of = Number(args["of"]);
      runs.push({ of, key: idempotencyKey, end: held.resolve });
      await held.promise;
      return `result ${of}`;
    },
  });
  return { tool, runs };
}

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await turn();
};

const agentWith = (tool: Tool, script: Script): Agent =>
  defineAgent({ name: "held", llm: scripted(script), tools: [tool] });

describe("a tool that runs once and takes ten minutes, under a lease of thirty seconds (C07)", () => {
  const begun = async (clock: Clock) => {
    const log = memoryLog(new MemoryStorage());
    const { tool, runs } = heldTool("send", "once");
    const agent = agentWith(tool, [[call("send")]]);
    const open = (owner: string, options: Partial<OpenOptions> = {}) =>
      openSession(agent, { log, id: "ada", clock, leaseMs: 30_000, owner, ...options });
    const session = await open("first");
    await session.send("Send.");
    await until(() => runs.length === 1);
    return { log, runs, open, session };
  };

  it("is left alone as long as its owner gives signs of life: another process that wants to run it learns who does", async () => {
    const clock = new TestClock();
    const { log, runs, open, session } = await begun(clock);
    for (let minute = 0; minute < 10; minute += 1) {
      await clock.advanceAsync(60_000);
      await expect(open("second")).rejects.toMatchObject({ code: "SessionBusy", owner: "first" });
    }
    runs[0]?.end();
    await quiet(session);
    expect(session.current().toolCalls["call_1"]?.result).toMatchObject({ content: "result 1" });
    expect(runs).toHaveLength(1);
    await checkSound(session, log);
    await session.close();
    expect(clock.waiting).toBe(0);
  });

  it("is not run again by who takes over when its owner was silent, and its late result is refused", async () => {
    const clock = new TestClock();
    let isStopped = false;
    const heart: Clock = {
      now: () => clock.now(),
      after: (ms, callback) => clock.after(ms, () => (isStopped ? undefined : callback())),
    };
    const errors = new HeardErrors();
    const { log, runs, open, session } = await begun(heart);
    session.onError(errors.onError);
    await clock.advanceAsync(60_000);
    isStopped = true;
    await expect(open("second", { clock })).rejects.toMatchObject({ code: "SessionBusy" });
    await clock.advanceAsync(31_000);
    const second = await open("second", { clock });
    await quiet(second);
    expect(second.current().toolCalls["call_1"]?.result).toMatchObject({ code: "outcome-unknown" });
    const ended = second.current();
    expect(ended.reActContext.control.type).toBe("Done");
    runs[0]?.end();
    await session.refresh();
    await until(() => session.info().access === "read");
    expect(session.info()).toMatchObject({ lastError: { code: "StaleWriter", owner: "second" } });
    await expect(session.send("Hello?")).rejects.toMatchObject({ code: "StaleWriter" });
    await second.refresh();
    expect(second.current()).toBe(ended);
    expect(runs).toHaveLength(1);
    await checkSound(second, log);
    await Promise.all([session.close(), second.close()]);
    expect(errors.codes).toEqual(["StaleWriter"]);
  });
});

describe("five keyed tools at once, of which three have recorded their results (C08)", () => {
  it.each(storeNames)(
    "only the other two run again after a crash, under the same keys, on %s",
    async (store) => {
      await using storage = storageOf(store);
      const clock = new TestClock();
      const { tool, runs } = heldTool("pay", "keyed");
      const agent = agentWith(tool, [[1, 2, 3, 4, 5].map((of) => call("pay", of))]);
      const life = new Life();
      const mortal = mortalLog(storage.open(), life);
      const session = await openSession(agent, { log: mortal, id: "ada", clock: life.clock(clock) });
      await session.send("Pay.");
      await until(() => runs.length === 5);
      for (const of of [2, 4, 5]) runs.find((run) => run.of === of)?.end();
      await until(
        () => Object.values(session.current().toolCalls).filter(({ result }) => result).length === 3,
      );
      expect(() => life.die()).toThrow("dead");
      await using again = await openSession(agent, {
        log: storage.open(),
        id: "ada",
        clock,
        isOwnerGone: () => true,
      });
      await until(() => runs.length === 7);
      const [first, second] = [runs.slice(0, 5), runs.slice(5)];
      expect(new Set(second.map(({ of }) => of))).toEqual(new Set([1, 3]));
      for (const { of, key } of second) expect(first.find((run) => run.of === of)?.key).toBe(key);
      for (const run of second) run.end();
      await quiet(again);
      expect(runs).toHaveLength(7);
      const results = Object.values(again.current().toolCalls).map(({ result }) => result);
      expect(results).toEqual(
        [1, 2, 3, 4, 5].map((of) => expect.objectContaining({ content: `result ${of}` })),
      );
      await checkSound(again, storage.open());
    },
  );
});

describe("a model that dies with its host after ten of forty words (C10)", () => {
  it("is asked again with the same bytes under the same key; the message is whole, and not doubled", async () => {
    const log = memoryLog(new MemoryStorage());
    const clock = new TestClock();
    const words = Array.from({ length: 40 }, (_, index) => `word${index} `);
    const asked: { readonly request: LlmRequest; readonly key: string | undefined }[] = [];
    const llm: LlmCaller = {
      name: "words",
      async call(request, options = {}) {
        asked.push({ request, key: options.idempotencyKey });
        const isFirst = asked.length === 1;
        for (const text of isFirst ? words.slice(0, 10) : words) options.onChunk?.({ type: "text", text });
        if (isFirst) await Promise.withResolvers<void>().promise;
        return answers(words.join(""));
      },
    };
    const agent = defineAgent({ name: "words", llm });
    const life = new Life();
    const session = await openSession(agent, {
      log: mortalLog(log, life),
      id: "ada",
      clock: life.clock(clock),
    });
    await session.send("Talk.");
    await until(() => session.current().streaming?.text === words.slice(0, 10).join(""));
    expect(() => life.die()).toThrow("dead");
    await using again = await openSession(agent, { log, id: "ada", clock, isOwnerGone: () => true });
    await quiet(again);
    expect(asked).toHaveLength(2);
    expect(JSON.stringify(asked[1]?.request)).toBe(JSON.stringify(asked[0]?.request));
    expect(asked[1]?.key).toBe(asked[0]?.key);
    const said = again
      .current()
      .messages.filter(({ role, status }) => role === "assistant" && status === undefined);
    expect(said.map(({ content }) => content)).toEqual(
      [words.join("").trim()].map((text) => expect.stringContaining(text)),
    );
    await checkSound(again, log);
  });
});

describe("a session that is removed while a tool and a model are at work (D08)", () => {
  it.each(storeNames)("takes nothing in any more; a new one of its id begins at 1, on %s", async (store) => {
    await using storage = storageOf(store);
    const log = storage.open();
    const clock = new TestClock();
    const { tool, runs } = heldTool("pay", "keyed");
    const agent = agentWith(tool, [[call("pay")]]);
    const errors = new HeardErrors();
    const session = await openSession(agent, { log, id: "ada", clock, onError: errors.onError });
    await session.send("Pay.");
    await until(() => runs.length === 1);
    await log.remove("ada");
    await session.refresh();
    runs[0]?.end();
    await until(() => session.info().access === "read");
    await expect(session.send("Are you there?")).rejects.toMatchObject({ code: "LogRemoved" });
    const fresh = await openSession(agent, { log, id: "ada", clock });
    await session.refresh();
    await turn();
    expect(fresh.info().seq).toBe(1);
    expect(fresh.current().messages).toEqual([]);
    await fresh.send("Pay.");
    await until(() => runs.length === 2);
    // What the removed one did must not be taken for done.
    expect(runs[1]?.key).not.toBe(runs[0]?.key);
    runs[1]?.end();
    await quiet(fresh);
    await checkSound(fresh, log);
    await Promise.all([session.close(), fresh.close()]);
    expect(new Set(errors.codes)).toEqual(new Set(["LogRemoved"]));
  });
});

describe("limits across restarts (L11)", () => {
  it("a model that repeats one call for ever stops at the same step, wherever its host dies (K01)", async () => {
    const budget = { maxTokens: 38 };
    for (const config of [{ limits: { maxSteps: 4 } }, { budget }]) {
      const endless = Array.from({ length: 50 }, () => [call("pay")]);
      for (let seq = 2; ; seq += 1) {
        using counter = new Counter();
        const log = memoryLog();
        const clock = new TestClock();
        const life = new Life({ seq, when: "after" });
        const agentIn = (of: Life) =>
          countingAgent({ counter, life: of, deeds: new Set() }, scripted(endless), config);
        const first = await openSession(agentIn(life), {
          log: mortalLog(log, life),
          id: "ada",
          clock: life.clock(clock),
          onError: printErrorsBut("Died", "StaleWriter"),
        });
        await first.send("Pay.").catch(() => undefined);
        await quiet(first, () => life.isOver);
        const second = await openSession(agentIn(new Life()), {
          log,
          id: "ada",
          clock,
          isOwnerGone: () => true,
        });
        if (second.current().messages.length === 0) await second.send("Pay.");
        await quiet(second);
        expect(second.current().reActContext.control).toMatchObject({
          type: "Error",
          failure: { kind: "limits" in config ? "MaxSteps" : "BudgetExceeded" },
        });
        expect(counter.effects, `after ${seq}`).toBe(4);
        await second.close();
        if (!life.isOver) break;
      }
    }
  });
});

describe("a session that is taken up by an agent that has changed", () => {
  const search = (description: string): Tool =>
    defineTool({
      name: "search",
      description,
      input: { type: "object", properties: { query: { type: "string" } } },
      execute: () => "",
    });
  const llm = new MockLlmCaller(() => answers("Hello."));
  const first = () =>
    defineAgent({ name: "ada", llm, tools: [search("Finds.")], config: { limits: { maxSteps: 7 } } });
  /** The same, with the fields of its configuration and its tools put together the other way round. */
  const rewritten = (): Agent => {
    const turned = <Fields extends object>(fields: Fields): Fields =>
      Object.assign(Object.create(null), Object.fromEntries(Object.entries(fields).toReversed()));
    const { tools, config, ...agent } = first();
    const definitions = Object.entries(tools).map(([name, definition]) => [name, turned(definition)]);
    return { ...agent, config: turned(config), tools: Object.fromEntries(definitions) };
  };

  it.each<[string, () => Agent, string[]]>([
    ["that is the same says so by its opening alone", first, []],
    ["whose fields stand in another order is the same", rewritten, []],
    [
      "with another limit is configured anew",
      () => ({ ...first(), config: changeConfig(first().config, { limits: { maxSteps: 8 } }) }),
      ["agent-configured"],
    ],
    [
      "with another tool is configured anew",
      () => defineAgent({ name: "ada", llm, tools: [search("Seeks.")], config: { limits: { maxSteps: 7 } } }),
      ["agent-configured"],
    ],
    [
      "with one tool less is configured anew",
      () => defineAgent({ name: "ada", llm, config: { limits: { maxSteps: 7 } } }),
      ["agent-configured"],
    ],
  ])("%s", async (_, next, expected) => {
    const log = memoryLog();
    await (await openSession(first(), { log, id: "ada" })).close();
    const before = (await readSession(log, "ada")).inputs.length;
    await (await openSession(next(), { log, id: "ada" })).close();
    const { inputs } = await readSession(log, "ada");
    expect(inputs.slice(before).map(({ type }) => type)).toEqual(["session-opened", ...expected]);
  });

  it("records which version of the agent wrote which records", async () => {
    const log = memoryLog();
    for (const version of ["1.4.0", "1.5.0"]) {
      const agent = defineAgent({ name: "ada", version, llm });
      await (await openSession(agent, { log, id: "ada" })).close();
    }
    const { header, inputs } = await readSession(log, "ada");
    expect(header.agent).toEqual({ name: "ada", version: "1.4.0" });
    expect(inputs.flatMap((input) => (input.type === "session-opened" ? [input.agentVersion] : []))).toEqual([
      "1.4.0",
      "1.5.0",
    ]);
  });
});

describe("an older release and a newer one that take turns a hundred times (L05)", () => {
  it("the older one writes nothing after the first newer record, and loses nothing", async () => {
    const scene = sceneOf([], {}, { llm: new MockLlmCaller(() => hangs()) });
    const errors = new HeardErrors();
    const { onError } = errors;
    const owner = await scene.open({ onError });
    await owner.send("Hello.");
    await until(() => owner.info().seq >= 2);
    const log = await scene.log().open("ada");
    if (log === undefined) throw new Error("There is no session.");
    const newer = async (): Promise<number> => {
      const head = (await log.read()).at(-1) ?? { seq: 0, digest: "" };
      const text = `note ${head.seq}`;
      const record = inputToRecord(
        head,
        Object.assign({ v: 2 }, { type: "context-note-added", text, timestamp: 1 } as const),
        [],
      );
      await log.append(head.seq, [record]);
      return record.seq;
    };
    const first = await newer();
    await owner.refresh();
    expect(owner.info()).toMatchObject({
      access: "read",
      lastError: { code: "UnsupportedVersion", seq: first },
    });
    await owner.close();
    for (let round = 1; round < 100; round += 1) {
      const session = await scene.open({ owner: `older ${round}`, onError });
      expect(session.info()).toMatchObject({ access: "read", seq: first - 1 });
      await expect(session.send("Hello?")).rejects.toMatchObject({ code: "UnsupportedVersion", seq: first });
      await session.close();
      expect(await newer()).toBe(first + round);
    }
    expect(new Set(errors.codes)).toEqual(new Set(["UnsupportedVersion"]));
    expect(await verifySession(scene.log(), "ada")).toMatchObject({
      ok: false,
      reason: "unsupported",
      seq: first,
    });
    expect(
      (await stateAt(scene.log(), "ada", first - 1)).state.messages.map(({ content }) => content),
    ).toContain("Hello.");
  });
});
