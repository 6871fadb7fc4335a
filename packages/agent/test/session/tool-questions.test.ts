import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  defineAgent,
  defineData,
  defineTool,
  effectsAt,
  forkSession,
  openSession,
  toolAsks,
  ToolRegistry,
  type AgentConfigChange,
  type DurableSession,
  type Question,
  type Session,
  type ToolContext,
} from "../../src/index.ts";
import { callsThenAnswers, never, questionOf, resultOf, Restarts, turns } from "../restarts/restarts.ts";
import { failureOf, scene, toolOf, type Scene } from "../support.ts";

const whichSeat = {
  question: "Which seat?",
  answer: z.object({ seat: z.string() }),
  state: { held: ["12A", "12B"] },
};

/** A tool that asks which seat, and books the one of the answer. */
const booking = (contexts: ToolContext[] = [], replay: "once" | "safe" = "once") =>
  toolOf(
    "book",
    (_, context) => {
      contexts.push(context);
      const last = context.asked;
      if (last === undefined) return toolAsks(whichSeat);
      return last.reply.type === "answered"
        ? `booked ${JSON.stringify(last.reply.answer)} of ${JSON.stringify(last.state)}`
        : `not booked: ${last.reply.reason}`;
    },
    { replay },
  );

const script = [callsTools([{ name: "book" }]), answers("done")];

const booked = (contexts: ToolContext[] = [], config: AgentConfigChange = {}): Scene =>
  scene(script, { tools: [booking(contexts)], config });

async function asked(session: Session | DurableSession): Promise<Question> {
  await untilPasses(() => expect(session.questions()).toHaveLength(1));
  const [question] = session.questions();
  if (question === undefined) throw new Error("No question is open.");
  return question;
}

describe("a tool that asks in the middle of its call", () => {
  it("runs again with the answer and with what it had kept, under the same idempotency key", async () => {
    const contexts: ToolContext[] = [];
    const { session } = booked(contexts);
    const run = session.ask("Book a seat.");
    const question = await asked(session);
    expect(question).toMatchObject({ about: "answer", name: "book", question: "Which seat?" });
    expect(JSON.parse(question.answerSchema ?? "")).toMatchObject({
      properties: { seat: { type: "string" } },
    });
    expect(session.current().reActContext.control.type).toBe("WaitingForHuman");
    await session.decide(question, { answer: { seat: "12A" } }, "ada");
    expect((await run).text).toBe("done");
    expect(resultOf(session.current())).toMatchObject({
      content: 'booked {"seat":"12A"} of {"held":["12A","12B"]}',
    });
    expect(contexts.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(contexts[1]?.asked?.reply).toMatchObject({ by: "ada" });
    expect(new Set(contexts.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
  });

  it("names who has decided its approval and who has answered its question", async () => {
    const { session } = booked([], { approval: { policy: "always" } });
    const run = session.ask("Book a seat.");
    const approval = await asked(session);
    expect(approval).not.toHaveProperty("answerSchema");
    await session.decide(approval, "approve", "ada");
    await untilPasses(() => expect(session.questions()[0]?.about).toBe("answer"));
    const question = await asked(session);
    await session.decide(question, { reject: "Too dear." }, "bob");
    await run;
    const late = [
      session.decide(approval, "approve", "eve"),
      session.decide(question, { reject: "" }, "eve"),
    ];
    expect(await Promise.all(late)).toEqual([
      { status: "ignored", reason: "already-decided", decidedBy: "ada" },
      { status: "ignored", reason: "already-decided", decidedBy: "bob" },
    ]);
  });

  it("runs again when a person refuses, and decides itself what that means", async () => {
    const { session } = booked();
    const run = session.ask("Book a seat.");
    await session.decide(await asked(session), { reject: "Too dear." });
    await run;
    expect(resultOf(session.current())).toMatchObject({ isSuccess: true, content: "not booked: Too dear." });
  });

  it("runs again when its question expires", async () => {
    const { session, clock } = booked([], { approval: { policy: "never", expiresAfterMs: 100 } });
    const run = session.ask("Book a seat.");
    await asked(session);
    clock.advance(100);
    await run;
    expect(resultOf(session.current())).toMatchObject({
      content: expect.stringMatching(/^not booked: .*in time\.$/),
    });
  });

  it("is answered in another process, days later", async () => {
    const world = new Restarts();
    const contexts: ToolContext[] = [];
    const llm = new MockLlmCaller(script);
    const agent = defineAgent({ llm, tools: [booking(contexts)] });
    await world.crash(agent, "Book a seat.");
    const session = await world.open(agent);
    expect(contexts).toHaveLength(1);
    await session.decide(questionOf(session), { answer: { seat: "12A" } });
    await untilPasses(() => expect(session.current().reActContext.control.type).toBe("Done"));
    expect(contexts).toHaveLength(2);
    expect(await world.types()).toContain("tool-call-asked");
  });

  it("asks as often as it wants to, and keeps what it needs", async () => {
    const wizard = toolOf("book", (_, { asked: last }) => {
      const given = last === undefined ? [] : z.array(z.string()).parse(last.state);
      const all = last?.reply.type === "answered" ? [...given, z.string().parse(last.reply.answer)] : given;
      return all.length < 3 ? toolAsks({ question: `Number ${all.length + 1}?`, state: all }) : all.join(" ");
    });
    const { session } = scene(script, { tools: [wizard] });
    const run = session.ask("Go.");
    const digests = new Set<string>();
    for (const answer of ["1", "2", "three"]) {
      await untilPasses(() =>
        expect(session.questions().some(({ digest }) => !digests.has(digest))).toBe(true),
      );
      const question = await asked(session);
      digests.add(question.digest);
      await session.decide(question, { answer });
    }
    await run;
    expect(resultOf(session.current())).toMatchObject({ content: "1 2 three" });
    expect(digests.size).toBe(3);
  });

  it("is approved once, before it asks", async () => {
    const contexts: ToolContext[] = [];
    const { session } = booked(contexts, { approval: { policy: "always" } });
    const run = session.ask("Book a seat.");
    const approval = await asked(session);
    expect(approval.about).toBe("approval");
    await session.decide(approval, "approve", "bob");
    await untilPasses(() => expect(session.questions()[0]?.about).toBe("answer"));
    await session.decide(await asked(session), { answer: { seat: "12A" } }, "ada");
    await untilPasses(() => expect(session.questions()).toEqual([]));
    await untilPasses(() => expect(session.current().reActContext.control.type).toBe("Done"));
    await run;
    expect(contexts.map(({ approvedBy }) => approvedBy)).toEqual(["bob", "bob"]);
    expect(session.current().toolCalls["call_1"]?.decision).toMatchObject({ type: "approved", by: "bob" });
  });

  it("is cancelled as a call that may have had its effect", async () => {
    const { session } = booked();
    const run = failureOf(session.ask("Book a seat."));
    await asked(session);
    await session.cancel();
    await run;
    expect(resultOf(session.current())).toMatchObject({ code: "cancelled-after-start" });
  });

  it.each(["rerun", "reuse"] as const)(
    "has another digest in a fork with %s, which takes no answer to the original",
    async (open) => {
      const world = new Restarts();
      const agent = defineAgent({ llm: callsThenAnswers({ name: "book" }), tools: [booking()] });
      await using session = await world.open(agent);
      await session.send("Book a seat.");
      const question = await asked(session);
      const answer = { answer: { seat: "12A" } };
      await forkSession(world.log, "ada", session.seq(), { as: "fork", open });
      await using fork = await openSession(agent, { log: world.log, id: "fork", clock: world.clock });
      const own = await asked(fork);
      expect(own).toMatchObject({ question: question.question, toolCallId: question.toolCallId });
      expect(await fork.decide(question, answer)).toEqual({ status: "ignored", reason: "digest-mismatch" });
      expect(await session.decide(own, answer)).toEqual({ status: "ignored", reason: "digest-mismatch" });
      for (const each of [fork, session]) {
        await each.decide(each === fork ? own : question, answer);
        await each.settled();
        expect(each.current().reActContext.control.type).toBe("Done");
      }
      // The records of an answered question are copied with its answer.
      const { state } = await forkSession(world.log, "ada", session.seq(), { as: "later", open });
      expect(state.toolCalls).toMatchObject({ call_1: { asked: { reply: { type: "answered" } } } });
    },
  );

  it("is closed in a fork as a call that may have had its effect", async () => {
    const world = new Restarts();
    const agent = defineAgent({ llm: new MockLlmCaller(script), tools: [booking()] });
    await world.crash(agent, "Book a seat.");
    const seq = (await world.types()).length;
    const { state } = await forkSession(world.log, "ada", seq, { as: "fork", open: "close" });
    expect(resultOf(state)).toMatchObject({ code: "outcome-unknown" });
    expect(Object.keys(effectsAt(state))).toEqual(["plan/1/2/1"]);
  });

  it("is settled by the application without an answer", async () => {
    const contexts: ToolContext[] = [];
    const { session } = booked(contexts);
    const run = session.ask("Book a seat.");
    await asked(session);
    await session.settle("call_1", { content: "booked by phone" });
    await run;
    expect(contexts).toHaveLength(1);
    expect(resultOf(session.current())).toMatchObject({ content: "booked by phone" });
  });

  it("changes the application data with its result, and not while it asks", async () => {
    const data = defineData({ schema: z.object({ held: z.array(z.string()) }), initial: { held: [] } });
    const book = defineTool({
      name: "book",
      description: "Books.",
      input: z.object({}),
      data,
      execute: (_, { asked: last, update, data: { held } }) => {
        const { held: now } = update((draft) => {
          draft.held.push("12A");
        });
        return last === undefined ? toolAsks({ question: "This one?" }) : `${held.length} ${now.length}`;
      },
    });
    const agent = defineAgent({ llm: new MockLlmCaller(script), tools: [book], data });
    const session = await new Restarts().open(agent);
    const run = session.ask("Go.");
    const question = await asked(session);
    expect(session.current().data).toEqual({ held: [] });
    await session.decide(question, { answer: "yes" });
    await run;
    expect(resultOf(session.current())).toMatchObject({ content: "0 1" });
    expect(session.current().data).toEqual({ held: ["12A"] });
  });

  it("binds a reply to one question of one call of one session", async () => {
    const ask = () =>
      scene([callsTools([{ name: "book" }, { name: "book" }]), answers("done")], {
        tools: [booking()],
        options: { id: "ada" },
      });
    const [one, other] = [ask(), ask()];
    const runs = [failureOf(one.session.ask("Go.")), failureOf(other.session.ask("Go."))];
    await untilPasses(() => expect(one.session.questions()).toHaveLength(2));
    await untilPasses(() => expect(other.session.questions()).toHaveLength(2));
    const digests = one.session.questions().map(({ digest }) => digest);
    expect(new Set(digests).size).toBe(2);
    const [first] = one.session.questions();
    const forged = { toolCallId: "call_2", digest: first?.digest ?? "" };
    expect(await one.session.decide(forged, { answer: { seat: "12A" } })).toMatchObject({
      reason: "digest-mismatch",
    });
    await Promise.all([one.session.close(), other.session.close()]);
    await Promise.all(runs);
  });

  it("is not counted as interrupted: a crash after many questions is one crash", async () => {
    const world = new Restarts();
    const wizard = toolOf(
      "book",
      (_, { asked: last, attempt }) => {
        const count = last === undefined ? 0 : z.number().parse(last.state);
        if (count < 3) return toolAsks({ question: `Number ${count + 1}?`, state: count + 1 });
        return attempt === 4 ? new Promise(() => undefined) : "done";
      },
      { replay: "keyed" },
    );
    const agent = defineAgent({ llm: new MockLlmCaller(script), tools: [wizard] });
    const first = await world.open(agent);
    first.ask("Go.").then(undefined, () => undefined);
    for (let answered = 0; answered < 3; answered += 1) {
      await first.decide(await asked(first), { answer: "yes" });
      await turns();
    }
    const second = await world.open(agent);
    await untilPasses(() => expect(second.current().reActContext.control.type).toBe("Done"));
    expect(resultOf(second.current())).toMatchObject({ content: "done" });
  });

  it("has its probe repeated as often as that of a tool that asks nothing", async () => {
    const world = new Restarts();
    let probes = 0;
    const book = defineTool({
      name: "book",
      description: "Books.",
      input: z.object({}),
      execute: (_, { attempt }) => (attempt < 3 ? toolAsks({ question: `Number ${attempt}?` }) : never()),
      probe: () => {
        probes += 1;
        return probes === 1 ? never() : { output: "booked" };
      },
    });
    const agent = defineAgent({ llm: new MockLlmCaller(script), tools: [book] });
    const first = await world.open(agent);
    first.ask("Go.").then(undefined, () => undefined);
    for (let answered = 0; answered < 2; answered += 1) {
      await first.decide(await asked(first), { answer: "yes" });
      await turns();
    }
    await world.open(agent);
    const third = await world.open(agent);
    await untilPasses(() => expect(third.current().reActContext.control.type).toBe("Done"));
    expect(resultOf(third.current())).toMatchObject({ content: "booked" });
    expect(probes).toBe(2);
  });

  it("fails where no person can be asked: in a registry without an agent", async () => {
    const tools = new ToolRegistry();
    tools.register(booking());
    expect(await failureOf(tools.execute("book", "{}"))).toMatchObject({
      message: expect.stringContaining("The tool book asks a person"),
    });
  });

  it("does not mistake JSON of the same shape for a question", async () => {
    const { session } = scene(script, { tools: [toolOf("book", () => ({ asks: { question: "?" } }))] });
    await session.ask("Go.");
    await turns();
    expect(resultOf(session.current())).toMatchObject({ content: '{"asks":{"question":"?"}}' });
  });

  it("keeps a text answer a text, where its schema says so", async () => {
    const replies: unknown[] = [];
    const ask = toolOf("book", (_, { asked: last }) => {
      if (last?.reply.type === "answered") replies.push(last.reply.answer);
      return last === undefined ? toolAsks({ question: "Which number?", answer: z.string() }) : "ok";
    });
    const { session } = scene(script, { tools: [ask] });
    const run = session.ask("Go.");
    await session.decide(await asked(session), { answer: "42" });
    await run;
    expect(replies).toEqual(["42"]);
  });

  it.each([
    ["no question", {}, "question is missing. It must be a text."],
    ["a state that is not JSON", { question: "?", state: { at: new Map() } }, "toolAsks: state.at"],
  ])("fails the call at %s", async (_, options, message) => {
    const { session } = scene(script, { tools: [toolOf("book", () => toolAsks(options as never))] });
    await session.ask("Go.");
    expect(resultOf(session.current())).toMatchObject({ error: expect.stringContaining(message) });
  });
});
