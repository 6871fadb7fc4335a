import { EventType } from "@ag-ui/client";
import { askHuman, type DataDefinition } from "@moora/agent";
import { memoryLog, MemoryStorage } from "@moora/event-log";
import { answers, callsTools } from "@moora/llm/testing";
import { Gates, remoteLog } from "@moora/testbed/durable/remote-log";
import { AgUiScene, say } from "@moora/testbed/server/ag-ui-scene";
import { agentOf } from "@moora/testbed/server/agent-of";
import { byName } from "@moora/testbed/server/scene";
import { TestClock, untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import {
  add,
  anything,
  changeData,
  conflictOf,
  dataOf,
  edit,
  lister,
  PageScene,
  posts,
  refusalOf,
  refused,
  run,
  sendMessage,
  working,
  type Fields,
} from "./ag-ui-data.ts";
import { toolOf } from "./support.ts";

/** What a page changes after its first run, what others change meanwhile, and what becomes of it. */
interface Situation {
  readonly initial: Fields;
  /** What others change while the answer is written: the page is shown it, and its messages do not prove that. */
  readonly during?: Fields;
  /** What others change after the run, in order. */
  readonly after?: readonly Fields[];
  readonly edits: Fields;
  /** Whether the page names the state that it has changed. */
  readonly isNamed?: boolean;
  readonly data: Fields;
  /** The places of the conflict. None: the run is accepted. */
  readonly conflicts?: readonly string[];
}

const todos = ["pay rent", "call mum", "buy tea"].map((text) => ({ text }));

const situations: Readonly<Record<string, Situation>> = {
  "is merged with what others have changed elsewhere": {
    initial: { x: 1, y: 1, old: 1 },
    after: [{ x: 2, theirs: "new" }],
    edits: { y: 5, old: undefined, mine: "new" },
    data: { x: 2, y: 5, theirs: "new", mine: "new" },
  },
  "is merged within an object": {
    initial: { more: { a: 1, b: 1 } },
    after: [{ more: { a: 2, b: 1 } }],
    edits: { more: { a: 1, b: 2 } },
    data: { more: { a: 2, b: 2 } },
  },
  "is merged with other items of an array that has kept its length": {
    initial: { list: [{ done: false }, { done: false }] },
    after: [{ list: [{ done: true }, { done: false }] }],
    edits: { list: [{ done: false }, { done: true }] },
    data: { list: [{ done: true }, { done: true }] },
  },
  "changes nothing where others have made the same change": {
    initial: { x: 1 },
    after: [{ x: 2 }],
    edits: { x: 2 },
    data: { x: 2 },
  },
  "is refused where others have changed the same places": {
    initial: { x: 1, "d/e": 1, gone: { deep: 1 } },
    after: [{ x: 2, "d/e": 2, gone: undefined }],
    edits: { x: 3, "d/e": 3, gone: { deep: 2 } },
    data: { x: 2, "d/e": 2 },
    conflicts: ["/x", "/d~1e", "/gone"],
  },
  "is refused where both have added to an array": {
    initial: { items: ["tea"] },
    after: [{ items: ["tea", "rice"] }],
    edits: { items: ["tea", "milk"] },
    data: { items: ["tea", "rice"] },
    conflicts: ["/items"],
  },
  "is refused for an item in whose place others have put another one": {
    initial: { todos },
    after: [{ todos: [...todos.slice(1), ...todos.slice(0, 1)] }],
    edits: { todos: todos.map((todo, index) => (index === 1 ? { ...todo, done: true } : todo)) },
    data: { todos: [...todos.slice(1), ...todos.slice(0, 1)] },
    conflicts: ["/todos/1"],
  },
  "is refused where others have made the same change, and taken it back": {
    initial: { done: false },
    after: [{ done: true }, { done: false }],
    edits: { done: true },
    data: { done: false },
    conflicts: ["/done"],
  },
  "is refused where others have changed the place while the answer was written": {
    initial: { x: 1 },
    during: { x: 2 },
    edits: { x: 3 },
    data: { x: 2 },
    conflicts: ["/x"],
  },
  "changes nothing where it sets back what others have changed while the answer was written": {
    initial: { x: 1, y: 1 },
    during: { x: 2 },
    edits: { x: 1, y: 5 },
    data: { x: 2, y: 5 },
  },
  "is refused where others have changed a place while the answer was written, and again": {
    initial: { x: 1, y: 1 },
    during: { x: 2 },
    after: [{ x: 3 }],
    edits: { y: 5 },
    data: { x: 3, y: 1 },
    conflicts: ["/x"],
  },
  "is exact if the page names its base: it keeps what others have changed again": {
    initial: { x: 1, y: 1 },
    during: { x: 2 },
    after: [{ x: 3 }],
    edits: { y: 5 },
    isNamed: true,
    data: { x: 3, y: 5 },
  },
  "is exact if the page names its base: it changes what the page was shown": {
    initial: { x: 1, y: 1 },
    during: { x: 2, y: 2 },
    edits: { x: 1, y: 3 },
    isNamed: true,
    data: { x: 1, y: 3 },
  },
  "is exact if the page names its base: it is refused where the page was not shown the change": {
    initial: { x: 1 },
    during: { x: 2 },
    after: [{ x: 3 }],
    edits: { x: 4 },
    isNamed: true,
    data: { x: 3 },
    conflicts: ["/x"],
  },
  "may remove the last field of the data if the page names its base": {
    initial: { x: 1 },
    edits: { x: undefined },
    isNamed: true,
    data: {},
  },
};

describe("what a page changes", () => {
  it.each(Object.entries(situations))("%s", async (_, situation) => {
    const { initial, during = {}, after = [], edits, isNamed = false, data, conflicts = [] } = situation;
    await using scene = new PageScene(initial);
    const client = scene.client();
    scene.during = () => scene.set(during);
    await sendMessage(client, "Hi");
    for (const fields of after) await scene.set(fields);
    const before = await posts(scene);
    const props = isNamed ? { forwardedProps: { "moora.base-state": client.state as unknown } } : {};
    edit(client, edits);
    client.addMessage({ id: "more", role: "user", content: "More" });
    await run(client, props);
    if (conflicts.length > 0) {
      expect(refusalOf(scene)).toEqual(conflictOf(...conflicts));
      expect(await posts(scene)).toEqual(before);
      // The page has the data now.
      expect(client.state).toEqual(data);
      await run(client);
    }
    expect(scene.last).toBe("RUN_FINISHED");
    expect([await dataOf(scene), client.state]).toEqual([data, data]);
  });

  it("is one update before the message, which the tools of the run see", async () => {
    const seen: unknown[] = [];
    const data = anything({ items: ["tea"], old: 1 });
    await using scene = new AgUiScene(working((_, work) => (seen.push(work.data), "worked"), { data }));
    const client = scene.client();
    client.setState({ items: ["oil", "tea"], mine: 1 });
    await say(client, "Work");
    expect(seen).toEqual([{ items: ["oil", "tea"], mine: 1 }]);
    const change = [{ op: "remove", path: "/old" }, ...add("/items/0", "oil"), ...add("/mine", 1)];
    expect(await posts(scene)).toEqual([["ada", ...change], "Work"]);
    expect(scene.failures).toEqual([]);
  });

  it("may be the items of data that is an array", async () => {
    const data = anything(["tea", "oil"], { schema: { type: "array" } });
    await using scene = new AgUiScene(lister(data));
    const client = scene.client();
    await say(client, "Hi");
    client.setState(["milk", "tea", "oil"]);
    await say(client, "More");
    expect((await posts(scene))[1]).toEqual(["ada", ...add("/0", "milk")]);
    await changeData(scene, [{ op: "remove", path: "/2" }]);
    const other = scene.client();
    other.setMessages(client.messages);
    other.setState(["milk", "rice", "oil"]);
    await sendMessage(other, "Again");
    expect(refusalOf(scene)).toEqual(conflictOf(""));
    client.setState(["tea"]);
    await run(client, { forwardedProps: { "moora.base-state": ["milk", "tea"] } });
    expect([await dataOf(scene), client.state]).toEqual([["tea"], ["tea"]]);
    expect((await posts(scene)).at(-1)).toEqual(["ada", { op: "remove", path: "/0" }]);
  });

  it("may be what a tool has changed before the answer, or its setting back", async () => {
    const agent = working(
      (_, { update }) => {
        update((draft) => void Object.assign(draft, { x: 2, y: 2 }));
        return "worked";
      },
      {
        data: anything({ x: 1, y: 1, z: 1 }),
        script: [callsTools([{ name: "work" }]), answers("Done."), answers("Yes.")],
      },
    );
    await using scene = new AgUiScene(agent);
    const client = scene.client();
    await say(client, "Work");
    await changeData(scene, add("/z", 2));
    edit(client, { x: 3, y: 1 });
    await say(client, "More");
    expect(await dataOf(scene)).toEqual({ x: 3, y: 1, z: 2 });
  });

  it("is recorded each time after runs that have failed, and once if the run is the same", async () => {
    await using scene = new PageScene({ x: 1, y: 1 });
    const client = scene.client();
    scene.fails = true;
    await sendMessage(client, "Hi");
    for (const y of [9, 8, 9, 1]) {
      edit(client, { y });
      for (let count = 0; count < 2; count += 1) {
        await run(client);
        expect(scene.last).toContain("The model is down.");
        expect(client.state).toEqual({ x: 1, y });
      }
    }
    const changes = [9, 8, 9, 1].map((value) => ["ada", { op: "replace", path: "/y", value }]);
    expect(await posts(scene)).toEqual(["Hi", ...changes]);
  });

  it("is recorded after a run that was left before its first text", async () => {
    const writes = Promise.withResolvers<void>();
    await using scene = new PageScene({ x: 1 });
    scene.during = () => writes.promise;
    const left = scene.client();
    edit(left, { x: 2 });
    const leaving = sendMessage(left, "Hi");
    await untilPasses(() => expect(left.state).toEqual({ x: 2 }));
    left.abortRun();
    await leaving;
    writes.resolve();
    const client = scene.client();
    client.setMessages(left.messages);
    client.setState({ x: 9 });
    await run(client);
    expect(scene.last).toBe("RUN_FINISHED");
    expect(await dataOf(scene)).toEqual({ x: 9 });
  });

  it("is nothing for an older page, and for one that was loaded again", async () => {
    await using scene = new AgUiScene(lister());
    const [one, other] = [scene.client(), scene.client()];
    await say(one, "Hi", "message-1");
    other.setMessages(one.messages);
    other.setState({ items: ["tea", "milk"] });
    await say(other, "More", "message-2");
    await say(one, "Again", "message-3");
    expect(one.state).toEqual({ items: ["tea", "milk"] });
    const loaded = scene.client();
    loaded.setState({ items: ["tea"] });
    await say(loaded, "Still there?", "message-4");
    expect(loaded.state).toEqual({ items: ["tea", "milk"] });
    expect(scene.failures).toEqual([]);
  });

  it("is refused after a run that the page has left, where a tool has changed the data before and after that", async () => {
    const half = Promise.withResolvers<void>();
    const script = [callsTools([{ name: "work", arguments: {} }]), answers("Done."), answers("Yes.")];
    const agent = working(
      async (_, { update }) => {
        await update.now((draft) => void Object.assign(draft, { status: "working", count: 1 }));
        await half.promise;
        update((draft) => void Object.assign(draft, { status: "", count: 2 }));
        return "worked";
      },
      { script, data: anything({ status: "", count: 0 }) },
    );
    await using scene = new AgUiScene(agent);
    const client = scene.client();
    const left = say(client, "Work", "message-1");
    await untilPasses(() => expect(client.state).toEqual({ status: "working", count: 1 }));
    client.abortRun();
    await left;
    half.resolve();
    const [id = ""] = await scene.sessionIds();
    await expect.poll(async () => (await scene.stateOf(id)).reActContext.control.type).toBe("Done");
    client.addMessage({ id: "message-2", role: "user", content: "And now?" });
    await run(client);
    expect(refusalOf(scene)).toEqual(conflictOf("/status", "/count"));
    await run(client);
    expect(scene.outcome).toEqual({ type: "success" });
    expect([await dataOf(scene), client.state]).toEqual([
      { status: "", count: 2 },
      { status: "", count: 2 },
    ]);
  });

  it("is refused for a page that is many changes behind, unless it names its base", async () => {
    await using scene = new PageScene({ x: 0, y: 0 });
    const client = scene.client();
    await sendMessage(client, "Hi");
    const old = scene.client();
    old.setMessages(client.messages);
    for (let x = 1; x <= 101; x += 1) await scene.set({ x });
    edit(client, { y: 1 });
    const base = { x: 0, y: 0 };
    await run(client, { forwardedProps: { "moora.base-state": base } });
    expect(await dataOf(scene)).toEqual({ x: 101, y: 1 });
    old.setState({ x: 50, y: 0 });
    await sendMessage(old, "More");
    expect(refusalOf(scene)).toEqual(conflictOf("/x"));
    await run(old);
    expect(scene.last).toBe("RUN_FINISHED");
    expect(await dataOf(scene)).toEqual({ x: 101, y: 1 });
  });

  it("is merged without reading the log again, however long it is", async () => {
    let reads = 0;
    const log = remoteLog(memoryLog(), async ({ call, way }) => {
      if (call === "read" && way === "there") reads += 1;
    });
    await using scene = new PageScene({ count: 0 }, { log });
    const client = scene.client();
    const readsOf = async (count: number): Promise<number> => {
      const before = reads;
      edit(client, { count });
      await sendMessage(client, "Hi");
      return reads - before;
    };
    await readsOf(1);
    for (let count = 2; count < 10; count += 1) expect(await readsOf(count)).toBe(0);
    expect(await dataOf(scene)).toEqual({ count: 9 });
  });

  it.each([undefined, null, {}])("is nothing if its state is %j: it has none yet", async (state) => {
    await using scene = new AgUiScene(lister());
    const client = scene.client();
    client.setState(state);
    await say(client, "Hi");
    expect(client.state).toEqual({ items: ["tea"] });
    expect(await posts(scene)).toEqual(["Hi"]);
  });

  it("is not read for an agent without data, and refused with a reason if it has a base", async () => {
    await using scene = new AgUiScene(agentOf(() => answers("Yes.")));
    const client = scene.client();
    for (const state of [{ of: "the page" }, {}, null]) {
      client.setState(state);
      await say(client, "Hi");
      expect(client.state).toEqual(state);
      expect(scene.outcome).toEqual({ type: "success" });
    }
    client.setState({ of: "the page" });
    client.addMessage({ id: "message-2", role: "user", content: "More" });
    await run(client, { forwardedProps: { "moora.base-state": {} } });
    expect(refusalOf(scene)).toEqual({
      types: ["RUN_STARTED", "RUN_ERROR"],
      code: "state-refused",
      message: "The agent has no data, so that its state cannot be changed.",
    });
    expect(await posts(scene)).toEqual(["Hi", "Hi", "Hi"]);
  });

  it("is refused with the path of what does not fit the schema, and the page is corrected", async () => {
    const schema = { type: "object", properties: { count: { type: "number" } } };
    await using scene = new AgUiScene(lister(anything({ count: 1 }, { schema })));
    const client = scene.client();
    client.setState({ count: "two" });
    client.addMessage({ id: "message-1", role: "user", content: "Hi" });
    await run(client);
    expect(refusalOf(scene)).toMatchObject({ types: refused, code: "state-refused" });
    expect(refusalOf(scene).message).toContain("count");
    expect(client.state).toEqual({ count: 1 });
    for (const state of ["text", ["a list"], JSON.parse('{"count":1,"__proto__":{"a":1}}') as unknown]) {
      client.setState(state);
      await run(client);
      expect(refusalOf(scene).code).toBe("state-refused");
    }
    for (const base of ["x", 1, true]) {
      client.setState({ count: 2 });
      await run(client, { forwardedProps: { "moora.base-state": base } });
      const message = "The moora.base-state must be an object or an array.";
      expect(refusalOf(scene)).toEqual({ types: refused, code: "state-refused", message });
    }
    await run(client);
    expect(await posts(scene)).toEqual(["Hi"]);
  });

  it("needs the right to update where it changes something", async () => {
    const authorize = (request: Request) => {
      const grant = byName(request);
      return grant && { ...grant, may: (action: string) => action !== "update" };
    };
    await using scene = new AgUiScene(lister(), { authorize });
    const client = scene.client();
    await say(client, "Hi");
    await say(client, "More");
    expect(await posts(scene)).toEqual(["Hi", "More"]);
    client.setState({ items: [] });
    client.addMessage({ id: "message-3", role: "user", content: "Again" });
    await run(client);
    expect(refusalOf(scene)).toMatchObject({ types: refused, code: "forbidden" });
    expect(client.state).toEqual({ items: ["tea"] });
    expect(await posts(scene)).toEqual(["Hi", "More"]);
  });

  it("is not recorded with a message that is refused", async () => {
    await using scene = new PageScene({ x: 1 });
    await say(scene.client(), "Hi", "message-1");
    for (const message of [
      { id: "message-1", content: "Ho" },
      { id: "message-2", content: "   " },
    ]) {
      const client = scene.client();
      client.setState({ x: 3 });
      client.addMessage({ ...message, role: "user" });
      await expect(client.runAgent()).rejects.toThrow("422");
    }
    expect(await dataOf(scene)).toEqual({ x: 1 });
  });
});

describe("what a page changes, at two servers", () => {
  it("is recorded once if the first one stops before the message, and the run is repeated at the other one", async () => {
    const storage = new MemoryStorage();
    const gates = new Gates();
    await using first = new AgUiScene(lister(), { log: remoteLog(memoryLog(storage), gates.pass) });
    await using second = new AgUiScene(lister(), { log: memoryLog(storage) });
    await say(first.client(), "Hi", "message-1");
    const more = (scene: AgUiScene): Promise<unknown> => {
      const client = scene.client();
      client.setState({ items: ["tea", "milk"] });
      client.addMessage({ id: "message-2", role: "user", content: "More" });
      return run(client);
    };
    const gate = gates.hold("append", "there", "user-message-received");
    const stopped = more(first);
    await gate.reached;
    expect(await posts(second)).toEqual(["Hi", ["ada", ...add("/items/1", "milk")]]);
    await changeData(second, [{ op: "replace", path: "/items/1", value: "oil" }]);
    const repeated = more(second);
    await expect.poll(async () => (await posts(second)).at(-1)).toBe("More");
    gate.open();
    await Promise.all([stopped, repeated]);
    expect(second.outcome).toEqual({ type: "success" });
    expect(await dataOf(second)).toEqual({ items: ["tea", "oil"] });
    expect((await posts(second)).filter((post) => post === "More")).toHaveLength(1);
    expect([...first.failures, ...second.failures]).toEqual([]);
  });

  it("is merged with the data of the moment at which it is recorded", async () => {
    const storage = new MemoryStorage();
    const gates = new Gates();
    const clock = new TestClock();
    const data = anything({ items: ["tea"], count: 1 });
    await using owner = new AgUiScene(lister(data), { log: memoryLog(storage), clock });
    await using far = new AgUiScene(lister(data), { log: remoteLog(memoryLog(storage), gates.pass), clock });
    await say(owner.client(), "Hi", "message-1");
    const post = async (state: object, other: object, id: string) => {
      const client = far.client();
      client.setState(state);
      client.addMessage({ id, role: "user", content: id });
      const gate = gates.hold("append", "there", "data-changed");
      const running = run(client);
      await gate.reached;
      await changeData(owner, [other]);
      gate.open();
      await running;
      return client.state as unknown;
    };
    const merged = { items: ["tea", "milk"], count: 2 };
    const others = { op: "replace", path: "/count", value: 2 };
    expect(await post({ items: ["tea", "milk"], count: 1 }, others, "message-2")).toEqual(merged);
    expect(far.outcome).toEqual({ type: "success" });
    const theirs = { op: "add", path: "/note", value: "theirs" };
    const state = { items: ["tea"], count: 1, note: "mine" };
    expect(await post(state, theirs, "message-3")).toEqual({ ...merged, note: "theirs" });
    expect(refusalOf(far)).toMatchObject({ types: refused, code: "state-conflict" });
    expect((await posts(owner)).slice(-2)).toEqual(["message-2", ["ada", ...add("/note", "theirs")]]);
  });

  it("is refused as a whole if the other one has converted the data since", async () => {
    const storage = new MemoryStorage();
    const migrate = (): Fields => ({ list: ["tea"] });
    const scene = (data: DataDefinition) => new AgUiScene(lister(data), { log: memoryLog(storage) });
    const client = await (async () => {
      await using older = scene(anything());
      const page = older.client();
      await say(page, "Hi", "message-1");
      return page;
    })();
    await using newer = scene(anything({ list: [] }, { version: 2, migrate }));
    const page = newer.client();
    page.setMessages(client.messages);
    page.setState({ items: ["tea", "milk"] });
    page.addMessage({ id: "message-2", role: "user", content: "More" });
    await run(page);
    expect(refusalOf(newer)).toEqual(conflictOf(""));
    await run(page);
    expect([await dataOf(newer), page.state]).toEqual([{ list: ["tea"] }, { list: ["tea"] }]);
  });
});

describe("what a page changes with answers to interrupts", () => {
  const approve = (interruptId = "") => [
    { interruptId, status: "resolved" as const, payload: { approved: true } },
  ];

  it("is recorded before them, and keeps what others have changed since", async () => {
    const agent = working((_, { data }) => JSON.stringify(data), { approval: "always" });
    await using scene = new AgUiScene(agent);
    const client = scene.client();
    await say(client, "Pay");
    await changeData(scene, [{ op: "add", path: "/note", value: "soon" }]);
    client.setState({ items: ["tea", "milk"] });
    await client.runAgent({ resume: approve(scene.interrupts[0]?.id) });
    expect(client.state).toEqual({ items: ["tea", "milk"], note: "soon" });
    const result = scene.events.find(({ type }) => type === EventType.TOOL_CALL_RESULT);
    expect(result).toMatchObject({ content: JSON.stringify(client.state) });
    expect(scene.failures).toEqual([]);
  });

  it("leaves the questions open if it is refused", async () => {
    await using scene = new AgUiScene(working(() => "worked", { approval: "always" }));
    const client = scene.client();
    await say(client, "Work");
    const resume = approve(scene.interrupts[0]?.id);
    await changeData(scene, [{ op: "replace", path: "/items/0", value: "rice" }]);
    client.setState({ items: ["oil"] });
    await run(client, { resume });
    expect(refusalOf(scene)).toMatchObject({ types: refused, code: "state-conflict" });
    const seen = client.state as unknown;
    client.setState({ items: ["rice", "oil"] });
    await run(client, { resume });
    expect(refusalOf(scene)).toEqual(conflictOf("/items"));
    client.setState({ items: ["rice", "oil"] });
    await run(client, { resume, forwardedProps: { "moora.base-state": seen } });
    expect(scene.outcome).toEqual({ type: "success" });
    expect(client.state).toEqual({ items: ["rice", "oil"] });
  });

  it.each([
    { why: "does not fit", size: "XL", may: () => true, status: "422" },
    { why: "is forbidden", size: "M", may: (action: string) => action !== "decide", status: "403" },
  ])("is not recorded, nor an answer, if one of them $why", async ({ size, may, status }) => {
    const paid: unknown[] = [];
    const pay = toolOf("pay", (input) => (paid.push(input), "paid"), { approval: "always" });
    const answer = { type: "object", properties: { size: { enum: ["S", "M"] } } } as const;
    const script = [
      callsTools([{ name: "pay" }, { name: "ask_human", arguments: { question: "Which size?" } }]),
      answers("Done."),
    ];
    const agent = agentOf(script, { data: anything({ x: 1 }), tools: [pay, askHuman({ answer })] });
    let isAllowed = false;
    const authorize = (request: Request) => {
      const grant = byName(request);
      return grant && { ...grant, may: (action: string) => isAllowed || may(action) };
    };
    await using scene = new AgUiScene(agent, { authorize });
    const client = scene.client();
    await say(client, "Pay");
    const { interrupts } = scene;
    const resume = (given: string) =>
      interrupts.map(({ id }, index) => ({
        interruptId: id,
        status: "resolved" as const,
        payload: index === 0 ? { approved: true } : { answer: { size: given } },
      }));
    edit(client, { x: 7 });
    await expect(client.runAgent({ resume: resume(size) })).rejects.toThrow(status);
    expect(await dataOf(scene)).toEqual({ x: 1 });
    expect(paid).toEqual([]);
    isAllowed = true;
    edit(client, { x: 8 });
    await client.runAgent({ resume: resume("M") });
    expect(scene.outcome).toEqual({ type: "success" });
    expect({ data: await dataOf(scene), paid: paid.length }).toEqual({ data: { x: 8 }, paid: 1 });
  });

  it("is recorded with each of them that repeats an answer, also if it was made before and taken back", async () => {
    const ask = { name: "ask_human", arguments: { question: "Which size?" } };
    const script = [callsTools([ask]), answers("Done.")];
    await using scene = new AgUiScene(agentOf(script, { data: anything({ x: 1 }), tools: [askHuman()] }));
    const client = scene.client();
    await say(client, "Buy");
    const interruptId = scene.interrupts[0]?.id ?? "";
    const resume = [{ interruptId, status: "resolved", payload: { answer: "M" } } as const];
    for (const [from, x] of [
      [1, 2],
      [2, 1],
      [1, 2],
    ]) {
      client.setState({ x });
      await run(client, { resume, forwardedProps: { "moora.base-state": { x: from } } });
      expect(await dataOf(scene)).toEqual({ x });
    }
    expect((await posts(scene)).slice(1)).toEqual(
      [2, 1, 2].map((value) => ["ada", { op: "replace", path: "/x", value }]),
    );
  });

  it.each([
    { edits: {}, approved: true, end: "RUN_FINISHED" },
    { edits: { n: 1 }, approved: true, end: "RUN_FINISHED" },
    { edits: { title: "of b" }, approved: true, end: "state-conflict" },
    { edits: { n: 1 }, approved: false, end: "already-decided" },
  ])("keeps what another window has posted with them: $edits, $end", async ({ edits, approved, end }) => {
    await using scene = new AgUiScene(
      working(() => "worked", { data: anything({ title: "old", n: 0 }), approval: "always" }),
    );
    const [a, b] = [scene.client(), scene.client()];
    await say(a, "Pay", "message-1");
    b.setMessages([...a.messages]);
    b.setState(a.state);
    const [answer] = approve(scene.interrupts[0]?.id);
    edit(a, { title: "new" });
    await a.runAgent({ resume: [{ ...answer, status: "resolved", interruptId: answer?.interruptId ?? "" }] });
    edit(b, edits);
    const resume = [
      { interruptId: answer?.interruptId ?? "", status: "resolved" as const, payload: { approved } },
    ];
    await run(b, { resume });
    const { type, code } = scene.events.at(-1) as unknown as { type: string; code?: string };
    expect(code ?? type).toBe(end);
    const data = { title: "new", n: 0, ...(end === "RUN_FINISHED" ? edits : {}) };
    expect([await dataOf(scene), b.state]).toEqual([data, data]);
  });
});
