import { agentTool, type Agent } from "@moora/agent";
import type { ChunkEvent } from "@moora/agent-webui-protocol";
import { memoryLog, MemoryStorage, type EventLog, type LiveChannel } from "@moora/event-log";
import type { LlmCaller } from "@moora/llm";
import { answers, callsTools, hangs } from "@moora/llm/testing";
import { remoteLog } from "@moora/testbed/durable/remote-log";
import { agentOf } from "@moora/testbed/server/agent-of";
import { TestClock, turn } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import type { EventReader } from "@moora/testbed/server/event-reader";
import { Scene } from "@moora/testbed/server/scene";
import { toolOf } from "./support.ts";

/** A model whose chunks a test writes. Its answer is all that was written. */
class HandWriter implements LlmCaller {
  readonly name = "hand";
  #text = "";
  #write: (text: string) => void = () => undefined;
  #end: () => void = () => undefined;
  readonly #begun = Promise.withResolvers<void>();

  async call(...[, options = {}]: Parameters<LlmCaller["call"]>): ReturnType<LlmCaller["call"]> {
    const ended = Promise.withResolvers<void>();
    this.#write = (text) => options.onChunk?.({ type: "text", text });
    this.#end = ended.resolve;
    this.#begun.resolve();
    await ended.promise;
    return answers(this.#text);
  }

  get begun(): Promise<void> {
    return this.#begun.promise;
  }

  write(text: string): void {
    this.#text += text;
    this.#write(text);
  }

  end(): void {
    this.#end();
  }
}

/** A live channel that a test can watch and break. */
class Wire {
  readonly sent: string[] = [];
  /** The topics of the texts that were sent. */
  readonly topics: string[] = [];
  /** Whether a text is lost. */
  loses: (text: string) => boolean = () => false;

  around(log: EventLog): EventLog {
    const { live } = log;
    if (live === undefined) throw new Error("The log has no live channel.");
    const channel: LiveChannel = {
      publish: (topic, text) => {
        this.sent.push(text);
        this.topics.push(topic);
        if (!this.loses(text)) live.publish(topic, text);
      },
      subscribe: (topic, listener) => live.subscribe(topic, listener),
    };
    return { ...log, live: channel };
  }

  get types(): readonly string[] {
    return this.sent.map((text) => JSON.parse(text).type);
  }
}

/** Two servers: the first one runs the session, and a viewer is connected to the second. */
async function farViewer(agent: () => Agent<unknown>) {
  const storage = new MemoryStorage();
  const clock = new TestClock();
  const wire = new Wire();
  const sceneOf = (): Scene => new Scene(agent(), { log: wire.around(memoryLog(storage)), clock });
  const near = sceneOf();
  const far = sceneOf();
  const id = await near.as("ada").create();
  const viewer = await far.as("ada").events(id);
  for (let turns = 0; turns < 10; turns += 1) await turn();
  return {
    near,
    far,
    id,
    clock,
    wire,
    viewer,
    storage,
    /** Another server on the log. */
    another: () => sceneOf(),
    say: () => near.as("ada").post(`/sessions/${id}/messages`, { content: "Hi" }),
    /** Sends what waits for the pace of the channel. */
    paced: () => clock.advanceAsync(25),
    async [Symbol.asyncDispose]() {
      await viewer[Symbol.asyncDispose]();
      await near[Symbol.asyncDispose]();
      await far[Symbol.asyncDispose]();
    },
  };
}

/** Moves the clock in small steps until a promise settles. */
async function inSteps<Value>(clock: TestClock, value: Promise<Value>): Promise<Value> {
  const state = { isDone: false };
  const done = value.finally(() => (state.isDone = true));
  done.catch(() => undefined);
  while (!state.isDone) await clock.advanceAsync(25);
  return await done;
}

type TextChunk = Extract<ChunkEvent, { type: "text" }>;

const textsOf = (reader: EventReader): readonly TextChunk[] =>
  reader.chunks.filter((chunk): chunk is TextChunk => chunk.type === "text");

async function untilChunk(reader: EventReader, test: (chunk: ChunkEvent) => boolean): Promise<void> {
  while (!reader.chunks.some(test))
    if ((await reader.next()) === undefined) throw new Error("The stream ended before the chunk.");
}

/** Reads until the text of the chunks is this one. Each of them must continue the one before, or begin anew. */
async function untilText(reader: EventReader, text: string): Promise<string> {
  for (;;) {
    let shown = "";
    for (const chunk of textsOf(reader)) {
      expect([0, shown.length]).toContain(chunk.offset);
      shown = shown.slice(0, chunk.offset) + chunk.text;
    }
    if (shown === text) return shown;
    if ((await reader.next()) === undefined) throw new Error(`The stream ended at ${JSON.stringify(shown)}.`);
  }
}

describe("viewers that connect after the first token, and before the record of the beginning of its message", () => {
  it("see the message from its beginning, at both servers", async () => {
    const model = new HandWriter();
    const storage = new MemoryStorage();
    const clock = new TestClock();
    const [begins, recorded] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = remoteLog(memoryLog(storage), async ({ call, way, types }) => {
      if (call !== "append" || way !== "there" || !types.includes("llm-message-started")) return;
      begins.resolve();
      await recorded.promise;
    });
    const { live } = memoryLog(storage);
    await using near = new Scene(agentOf(model), {
      log: live === undefined ? slow : { ...slow, live },
      clock,
    });
    await using far = new Scene(agentOf(model), { log: memoryLog(storage), clock });
    const id = await near.as("ada").create();
    await near.as("ada").post(`/sessions/${id}/messages`, { content: "Hi" });
    await model.begun;
    model.write("One");
    await begins.promise;
    await using here = await near.as("ada").events(id);
    await using there = await far.as("ada").events(id);
    for (const viewer of [here, there]) await viewer.until("llm-call-started");
    for (let turns = 0; turns < 10; turns += 1) await turn();
    model.write(" two");
    await clock.advanceAsync(25);
    recorded.resolve();
    for (let turns = 0; turns < 10; turns += 1) await turn();
    model.write(" three");
    const shown = (text: string) => Promise.all([untilText(here, text), untilText(there, text)]);
    await inSteps(clock, shown("One two three"));
    model.write(" four");
    expect(await inSteps(clock, shown("One two three four"))).toEqual([
      "One two three four",
      "One two three four",
    ]);
  });
});

describe("a viewer at another server than the one that runs the session", () => {
  it("sees the tokens, after the record of the beginning of their message", async () => {
    const model = new HandWriter();
    await using pair = await farViewer(() => agentOf(model));
    const { viewer, paced, say } = pair;
    await say();
    await model.begun;
    for (const word of ["One", " two", " three"]) model.write(word);
    await paced();
    await untilText(viewer, "One two three");
    expect(viewer.inputs.at(-1)?.input.type).toBe("llm-message-started");
    model.end();
    const { input } = await viewer.until("re-act-observed");
    expect(input.type).toBe("re-act-observed");
    expect(
      textsOf(viewer)
        .map(({ text }) => text)
        .join(""),
    ).toBe("One two three");
  });

  it("sees what was written before its server asked, also a long text", async () => {
    const model = new HandWriter();
    await using pair = await farViewer(() => agentOf(model));
    await pair.viewer[Symbol.asyncDispose]();
    await pair.say();
    await model.begun;
    const long = "word ".repeat(20_000);
    model.write(long);
    await pair.paced();
    await using later = await pair.far.as("ada").events(pair.id);
    expect(await untilText(later, long)).toHaveLength(long.length);
    model.end();
  });

  it("has the whole text again after a text was lost", async () => {
    const model = new HandWriter();
    await using pair = await farViewer(() => agentOf(model));
    const { viewer, wire, paced, say } = pair;
    await say();
    await model.begun;
    model.write("One");
    await paced();
    await untilText(viewer, "One");
    wire.loses = (text) => text.includes(" two");
    model.write(" two");
    await paced();
    wire.loses = () => false;
    model.write(" three");
    await paced();
    expect(await untilText(viewer, "One two three")).toBe("One two three");
    model.end();
    await viewer.until("re-act-observed");
  });

  it("has the record of a message whose live text was lost", async () => {
    const model = new HandWriter();
    await using pair = await farViewer(() => agentOf(model));
    const { viewer, wire, say } = pair;
    wire.loses = (text) => JSON.parse(text).type !== "view";
    await say();
    await model.begun;
    model.write("Lost");
    model.end();
    await viewer.until("re-act-observed");
    expect(textsOf(viewer)).toEqual([]);
    expect(JSON.stringify(viewer.inputs)).toContain("Lost");
  });

  it("sees the output of tools", async () => {
    const slow = Promise.withResolvers<string>();
    const work = toolOf("work", async (_input, { progress }) => {
      progress("half");
      return await slow.promise;
    });
    const script = [callsTools([{ name: "work", arguments: {} }]), answers("Done.")];
    await using pair = await farViewer(() => agentOf(script, { tools: [work] }));
    const seen = untilChunk(pair.viewer, ({ type }) => type === "tool-progress");
    await pair.say();
    await inSteps(pair.clock, seen);
    expect(pair.viewer.chunks).toContainEqual({ type: "tool-progress", toolCallId: "call_1", text: "half" });
    slow.resolve("done");
    await pair.viewer.until("re-act-observed");
  });

  it("sees the questions of sub-agents, and answers them", async () => {
    const paid: unknown[] = [];
    const log = memoryLog();
    const pay = toolOf("pay", (input) => (paid.push(input), "paid"), { approval: "always" });
    const cashier = () =>
      agentOf([callsTools([{ name: "pay", arguments: { sum: 7 } }]), answers("It is paid.")], {
        name: "cashier",
        tools: [pay],
      });
    const boss = () =>
      agentOf([callsTools([{ name: "cashier", arguments: { task: "Pay" } }]), answers("Done.")], {
        tools: [agentTool(cashier(), { name: "cashier", description: "Pays.", log })],
      });
    await using pair = await farViewer(boss);
    const { viewer, near, far, id, clock } = pair;
    await pair.say();
    const { toolCallId, digest, path } = await inSteps(clock, viewer.question());
    await using second = await far.as("ada").events(id);
    expect(await second.question()).toMatchObject({ toolCallId, digest, path });
    expect((await far.as("ada").get(`/sessions/${id}`)).body.questions).toMatchObject([{ digest, path }]);
    const decision = { toolCallId, digest, path, decision: "approve" };
    expect((await near.as("ada").post(`/sessions/${id}/decisions`, decision)).body.status).toBe("accepted");
    await inSteps(clock, viewer.until("tool-call-completed"));
    expect(viewer.chunks).toContainEqual({ type: "question-closed", path, toolCallId });
    expect(paid).toEqual([{ sum: 7 }]);
    expect((await far.as("ada").get(`/sessions/${id}`)).body.questions).toEqual([]);
  });

  it("sees the tokens of a chat once", async () => {
    const model = new HandWriter();
    await using pair = await farViewer(() => agentOf(model));
    const { near, far, paced, wire } = pair;
    const message = { id: "m1", role: "user", parts: [{ type: "text", text: "Hi" }] };
    const body = JSON.stringify({ id: "chat-1", messages: [message] });
    const headers = { "content-type": "application/json" };
    const chat = (scene: Scene): Promise<Response> =>
      scene.as("ada").send("/agents/helper/chat", { method: "POST", headers, body });
    const first = await chat(near);
    await model.begun;
    model.write("One");
    await paced();
    const second = await far.as("ada").send("/agents/helper/chat/chat-1/stream", {});
    for (let turns = 0; turns < 10; turns += 1) await turn();
    wire.loses = (text) => text.includes(" two");
    model.write(" two");
    await paced();
    wire.loses = () => false;
    model.write(" three");
    await paced();
    model.write(" four");
    model.end();
    const deltas = async (response: Response): Promise<readonly string[]> =>
      [...(await response.text()).matchAll(/"delta":"([^"]*)"/g)].map(([, delta = ""]) => delta);
    expect((await deltas(first)).join("")).toBe("One two three four");
    const shown = await deltas(second);
    expect(shown.join("")).toBe("One two three four");
    expect(shown.length).toBeGreaterThan(1);
  });

  it("has what waits to be sent as part of the text so far", async () => {
    const model = new HandWriter();
    await using pair = await farViewer(() => agentOf(model));
    await pair.say();
    await model.begun;
    model.write("One");
    model.write(" two");
    await untilText(pair.viewer, "One");
    pair.wire.sent.length = 0;
    pair.wire.topics.length = 0;
    await using third = pair.another();
    await using later = await third.as("ada").events(pair.id);
    await untilText(later, "One two");
    const { server } = JSON.parse(pair.wire.sent.find((text) => text.includes('"view"')) ?? "{}");
    const received = pair.wire.types.filter((_type, index) => pair.wire.topics[index] === server);
    expect(received).toEqual(["begin"]);
    await untilText(pair.viewer, "One two");
    model.end();
  });

  it("that is slow holds up no other one, and gets every record", async () => {
    const model = new HandWriter();
    await using pair = await farViewer(() => agentOf(model));
    await using slow = await pair.far.as("ada").events(pair.id);
    await pair.say();
    await model.begun;
    let text = "";
    for (let count = 0; count < 40; count += 1) {
      const piece = `${count} `.repeat(10_000);
      text += piece;
      model.write(piece);
      await pair.paced();
      await untilText(pair.viewer, text);
    }
    model.end();
    await pair.viewer.until("re-act-observed");
    await slow.until("re-act-observed");
    expect(slow.inputs).toEqual(pair.viewer.inputs);
  });
});

describe("a text of another form on the live channel", () => {
  const malformed = (session: string): readonly string[] => {
    const head = { session, feed: "other", seq: 0 };
    const call = { toolCallId: "call_1", path: ["call_1"] };
    const texts: readonly unknown[] = [
      null,
      "text",
      { type: "view" },
      { type: "view", server: "x", sessions: [null] },
      { type: "view", server: "x", sessions: [{ session, messageId: 1, length: "2" }] },
      { type: "leave", server: "x" },
      { type: "begin", ...head, streaming: 7 },
      { type: "begin", ...head, streaming: null, questions: [null] },
      { type: "begin", ...head, streaming: { messageId: "m", offset: -1, text: "x" } },
      { type: "events", ...head },
      { type: "events", ...head, events: [{}] },
      { type: "events", ...head, events: [{ event: { type: "LlmToken", messageId: "m" } }] },
      { type: "events", ...head, events: [{ event: { type: "Unknown" } }] },
      { type: "events", ...head, events: [{ event: { type: "SubAgentEvent", ...call, event: null } }] },
    ];
    return ["{", ...texts.map((text) => JSON.stringify(text))];
  };

  it("is dropped by each server, and what follows is shown", async () => {
    const model = new HandWriter();
    await using pair = await farViewer(() => agentOf(model));
    const { live } = memoryLog(pair.storage);
    const { server, sessions } = JSON.parse(pair.wire.sent[0] ?? "{}");
    await pair.say();
    await model.begun;
    for (const text of malformed(sessions[0].session))
      for (const topic of ["viewers/1", server]) live?.publish(topic, text);
    model.write("One");
    await pair.paced();
    expect(await untilText(pair.viewer, "One")).toBe("One");
    model.end();
    await pair.viewer.until("re-act-observed");
  });
});

describe("a server that runs a session", () => {
  it("publishes nothing while no other one has viewers of it", async () => {
    const model = new HandWriter();
    await using pair = await farViewer(() => agentOf(model));
    const { viewer, wire, near, id, paced, say } = pair;
    await viewer[Symbol.asyncDispose]();
    await using own = await near.as("ada").events(id);
    for (let turns = 0; turns < 10; turns += 1) await turn();
    wire.sent.length = 0;
    await say();
    await model.begun;
    model.write("Here");
    await paced();
    await untilText(own, "Here");
    model.end();
    await own.until("re-act-observed");
    expect(wire.sent).toEqual([]);
  });

  it("stops a minute after the last request of a server that is gone", async () => {
    const model = new HandWriter();
    await using pair = await farViewer(() => agentOf(model));
    const { wire, clock, paced, say, viewer } = pair;
    await say();
    await model.begun;
    model.write("One");
    await paced();
    await untilText(viewer, "One");
    wire.loses = (text) => JSON.parse(text).type === "view";
    const reading = viewer.all();
    await clock.advanceAsync(59_000);
    wire.sent.length = 0;
    model.write(" two");
    await paced();
    expect(wire.types).toEqual(["events"]);
    await clock.advanceAsync(2_000);
    wire.sent.length = 0;
    model.write(" three");
    await paced();
    expect(wire.types.filter((type) => type === "events")).toEqual([]);
    model.end();
    await viewer[Symbol.asyncDispose]();
    await reading;
  });

  it("joins the tokens of a short time", async () => {
    const model = new HandWriter();
    await using pair = await farViewer(() => agentOf(model));
    const { wire, paced, say, viewer } = pair;
    await say();
    await model.begun;
    wire.sent.length = 0;
    for (let count = 0; count < 100; count += 1) model.write("x");
    await paced();
    await untilText(viewer, "x".repeat(100));
    expect(wire.types.filter((type) => type === "events").length).toBeLessThan(4);
    model.end();
  });
});

describe("a server that takes a session over", () => {
  it("sends its tokens to the viewers that the one before had", async () => {
    const storage = new MemoryStorage();
    const clock = new TestClock();
    const models = [hangs("Hm")];
    const model = new HandWriter();
    const first = new Scene(agentOf(models), { log: memoryLog(storage), clock });
    await using second = new Scene(agentOf(model), { log: memoryLog(storage), clock });
    await using third = new Scene(agentOf(model), { log: memoryLog(storage), clock });
    const id = await first.as("ada").create();
    await second.as("ada").get(`/sessions/${id}`);
    await using viewer = await third.as("ada").events(id);
    await first.as("ada").post(`/sessions/${id}/messages`, { content: "Hi" });
    await inSteps(clock, untilText(viewer, "Hm"));
    await first.server.close();
    await inSteps(clock, model.begun);
    model.write("Again");
    await inSteps(
      clock,
      untilChunk(viewer, (chunk) => chunk.type === "text" && chunk.text === "Again"),
    );
    model.end();
    const { input } = await inSteps(clock, viewer.until("re-act-observed"));
    expect(JSON.stringify(input)).toContain("Again");
  });
});
