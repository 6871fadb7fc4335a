import { EventType } from "@ag-ui/client";
import { canonicalJson, defineAgent, defineTool } from "@moora/agent";
import { memoryLog, MemoryStorage } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { Gates, remoteLog } from "@moora/testbed/durable/remote-log";
import { TestClock, untilPasses } from "@moora/testbed/test-clock";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  add,
  anything,
  becomes,
  changeData,
  dataOf,
  drawnData,
  lister,
  posts,
  push,
  refusalOf,
  refused,
  run,
  working,
} from "./ag-ui-data.ts";
import { AgUiScene, say } from "@moora/testbed/server/ag-ui-scene";
import { agentOf } from "@moora/testbed/server/agent-of";
import { byName } from "@moora/testbed/server/scene";
import { toolOf } from "./support.ts";

const isSame = (one: unknown, other: unknown): boolean =>
  (one === undefined) === (other === undefined) && canonicalJson(one) === canonicalJson(other);

describe("the state that a client of AG-UI posts", () => {
  it("is recorded before the first message, and the tools of the run see it", async () => {
    const seen: unknown[] = [];
    const agent = working((_, { data }) => (seen.push(data), "worked"));
    await using scene = new AgUiScene(agent);
    const client = scene.client();
    client.setState({ items: ["tea", "milk"] });
    await say(client, "Work");
    expect(seen).toEqual([{ items: ["tea", "milk"] }]);
    expect(await posts(scene)).toEqual([["ada", ...add("/items/1", "milk")], "Work"]);
    expect(client.state).toEqual({ items: ["tea", "milk"] });
    expect(scene.failures).toEqual([]);
  });

  it.each([undefined, null, {}])("changes nothing if it is %j: the client has none yet", async (state) => {
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

  it("is merged with what others have changed between the runs", async () => {
    const data = anything({ items: ["tea"], list: [{ done: false }, { done: false }], count: 1, old: 1 });
    await using scene = new AgUiScene(lister(data));
    const client = scene.client();
    await say(client, "Hi");
    await changeData(scene, [
      { op: "replace", path: "/count", value: 2 },
      { op: "replace", path: "/list/0/done", value: true },
      { op: "add", path: "/theirs", value: "new" },
    ]);
    client.setState({
      items: ["oil", "tea"],
      list: [{ done: false }, { done: true }],
      count: 1,
      mine: "new",
    });
    await say(client, "More");
    expect(client.state).toEqual({
      items: ["oil", "tea"],
      list: [{ done: true }, { done: true }],
      count: 2,
      theirs: "new",
      mine: "new",
    });
    expect(await dataOf(scene)).toEqual(client.state);
    expect((await posts(scene)).at(-2)).toEqual([
      "ada",
      { op: "remove", path: "/old" },
      { op: "add", path: "/items/0", value: "oil" },
      { op: "replace", path: "/list/1/done", value: true },
      { op: "add", path: "/mine", value: "new" },
    ]);
    expect(scene.failures).toEqual([]);
  });

  it("is refused where others have changed the same places, and nothing is posted", async () => {
    const data = anything({ items: ["tea"], count: 1, gone: { deep: 1 }, same: 1 });
    await using scene = new AgUiScene(lister(data));
    const client = scene.client();
    await say(client, "Hi");
    await changeData(scene, [
      { op: "replace", path: "/count", value: 2 },
      { op: "add", path: "/items/-", value: "rice" },
      { op: "remove", path: "/gone" },
      { op: "replace", path: "/same", value: 2 },
    ]);
    const before = await posts(scene);
    client.setState({ items: ["tea", "milk"], count: 3, gone: { deep: 2 }, same: 2 });
    client.addMessage({ id: "message-2", role: "user", content: "More" });
    await run(client);
    expect(refusalOf(scene)).toEqual({
      types: refused,
      code: "state-conflict",
      message:
        'The data was changed meanwhile at "/items", "/count", "/gone". Merge the changes, and run again.',
    });
    expect(await posts(scene)).toEqual(before);
    expect(client.state).toEqual({ items: ["tea", "rice"], count: 2, same: 2 });
    // The page takes what others have changed.
    await run(client);
    expect(await posts(scene)).toEqual([...before, "More"]);
    expect(scene.outcome).toEqual({ type: "success" });
  });

  it("may overwrite what others have changed, if the client names the state that it has seen", async () => {
    await using scene = new AgUiScene(lister(anything({ items: [], count: 1 })));
    const client = scene.client();
    await say(client, "Hi");
    await changeData(scene, [{ op: "replace", path: "/count", value: 2 }]);
    client.setState({ items: [], count: 3 });
    client.addMessage({ id: "message-2", role: "user", content: "More" });
    await run(client);
    expect(refusalOf(scene).code).toBe("state-conflict");
    const seen = client.state as unknown;
    client.setState({ items: [], count: 3 });
    await run(client, { forwardedProps: { "moora.base-state": seen } });
    expect(await dataOf(scene)).toEqual({ items: [], count: 3 });
    expect(scene.outcome).toEqual({ type: "success" });
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
    expect(await posts(scene)).toEqual([]);
    for (const state of ["text", ["a list"], JSON.parse('{"count":1,"__proto__":{"a":1}}') as unknown]) {
      client.setState(state);
      await run(client);
      expect(refusalOf(scene).code).toBe("state-refused");
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

  it("changes nothing again if the run is repeated", async () => {
    await using scene = new AgUiScene(lister());
    for (let count = 0; count < 2; count += 1) {
      const client = scene.client();
      client.setState({ items: ["tea", "milk"] });
      await say(client, "Hi", "message-1");
      if (count === 0) await changeData(scene, [{ op: "remove", path: "/items/0" }], "ada");
      expect(client.state).toEqual(count === 0 ? { items: ["tea", "milk"] } : { items: ["milk"] });
    }
    expect(await posts(scene)).toHaveLength(3);
    expect(scene.failures).toEqual([]);
  });

  it("is recorded once if the server stops before the message, and the run is repeated at another one", async () => {
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

  it("is taken for what the client has seen: an older page reverts nothing", async () => {
    await using scene = new AgUiScene(lister());
    const [one, other] = [scene.client(), scene.client()];
    await say(one, "Hi", "message-1");
    other.setMessages(one.messages);
    other.setState({ items: ["tea", "milk"] });
    await say(other, "More", "message-2");
    await say(one, "Again", "message-3");
    expect(one.state).toEqual({ items: ["tea", "milk"] });
    // A page that was loaded again begins with its initial state.
    const loaded = scene.client();
    loaded.setState({ items: ["tea"] });
    await say(loaded, "Still there?", "message-4");
    expect(loaded.state).toEqual({ items: ["tea", "milk"] });
    expect(scene.failures).toEqual([]);
  });

  it("reverts nothing of a run that the client has left", async () => {
    const half = Promise.withResolvers<void>();
    const script = [callsTools([{ name: "work", arguments: {} }]), answers("Done."), answers("Yes.")];
    const agent = working(
      async (_, { update }) => {
        await update.now(push("first"));
        await half.promise;
        update(push("last"));
        return "worked";
      },
      { script },
    );
    await using scene = new AgUiScene(agent);
    const client = scene.client();
    const left = say(client, "Work", "message-1");
    await untilPasses(() => expect(client.state).toEqual({ items: ["tea", "first"] }));
    client.abortRun();
    await left;
    half.resolve();
    const [id = ""] = await scene.sessionIds();
    await expect.poll(async () => (await scene.stateOf(id)).reActContext.control.type).toBe("Done");
    await say(client, "And now?", "message-2");
    expect(client.state).toEqual({ items: ["tea", "first", "last"] });
    expect(scene.failures).toEqual([]);
  });

  it("is not recorded if the message of its run is refused", async () => {
    await using scene = new AgUiScene(lister(anything({ n: 0 })));
    const client = scene.client();
    await say(client, "Hi");
    client.setState({ n: 77 });
    client.addMessage({ id: "message-2", role: "user", content: "   " });
    await expect(client.runAgent()).rejects.toThrow("422");
    expect(await dataOf(scene)).toEqual({ n: 0 });
  });

  it("is refused for an item of a list in whose place others have put another one", async () => {
    const todos = ["pay rent", "call mum", "buy tea"].map((text) => ({ text }));
    await using scene = new AgUiScene(lister(anything({ todos })));
    const client = scene.client();
    await say(client, "Hi");
    await changeData(scene, [
      { op: "remove", path: "/todos/0" },
      { op: "add", path: "/todos/-", value: { text: "pay rent" } },
    ]);
    client.setState({ todos: todos.map((todo, index) => (index === 1 ? { ...todo, done: true } : todo)) });
    client.addMessage({ id: "message-2", role: "user", content: "More" });
    await run(client);
    expect(refusalOf(scene)).toMatchObject({
      code: "state-conflict",
      message: 'The data was changed meanwhile at "/todos/1". Merge the changes, and run again.',
    });
  });

  it("is refused where it sets back what others have changed while the answer was written", async () => {
    const writes = Promise.withResolvers<void>();
    const data = anything({ items: [], on: false, other: 1 });
    const script = async () => {
      await writes.promise;
      return answers("Yes.");
    };
    await using scene = new AgUiScene(agentOf(script, { data }));
    const client = scene.client();
    const first = say(client, "Hi");
    await expect.poll(() => scene.types).toContain(EventType.STATE_SNAPSHOT);
    await changeData(scene, [{ op: "replace", path: "/on", value: true }]);
    writes.resolve();
    await first;
    const seen = client.state as object;
    expect(seen).toEqual({ items: [], on: true, other: 1 });
    const changed = { ...seen, on: false, other: 5 };
    client.setState(changed);
    client.addMessage({ id: "message-2", role: "user", content: "More" });
    await run(client);
    expect(refusalOf(scene)).toMatchObject({
      code: "state-conflict",
      message: 'The data was changed meanwhile at "/on". Merge the changes, and run again.',
    });
    client.setState(changed);
    await run(client, { forwardedProps: { "moora.base-state": seen } });
    expect(await dataOf(scene)).toEqual(changed);
  });

  it.each<[string, object, Record<string, unknown>, object]>([
    ["changed", { note: "" }, { note: "checked" }, { note: "" }],
    ["added", {}, { note: "checked" }, {}],
    ["removed", { note: "" }, { note: undefined }, { note: "" }],
  ])(
    "is refused where it sets back what the handler of a state has %s after the answer",
    async (_, initial, after, posted) => {
      const agent = defineAgent({
        name: "helper",
        llm: new MockLlmCaller(() => answers("Yes.")),
        data: anything({ items: [], ...initial }),
        config: {
          graph: {
            states: ["Checking"],
            rows: { Planning: { LlmFinalAnswer: "Checking" }, Checking: { Good: "Done" } },
            terminals: [],
          },
        },
        states: {
          Checking(__, { update }) {
            update((draft) => {
              const fields = draft as Record<string, unknown>;
              for (const [name, value] of Object.entries(after)) {
                if (value === undefined) delete fields[name];
                else fields[name] = value;
              }
            });
            return "Good";
          },
        },
      });
      await using scene = new AgUiScene(agent);
      const client = scene.client();
      await say(client, "Hi");
      expect(client.state).toEqual({ items: [], ...after });
      client.setState({ items: [], ...posted });
      client.addMessage({ id: "message-2", role: "user", content: "More" });
      await run(client);
      expect(refusalOf(scene)).toMatchObject({
        code: "state-conflict",
        message: 'The data was changed meanwhile at "/note". Merge the changes, and run again.',
      });
      expect(await posts(scene)).toEqual(["Hi"]);
      client.setState(JSON.parse('{"items":[],"__proto__":{}}'));
      await run(client);
      expect(refusalOf(scene)).toMatchObject({ types: refused, code: "state-refused" });
    },
  );

  it("is taken as it is, or refused, if a tool has changed the data during the run, and others have not", async () => {
    const outcomes = new Set<unknown>();
    await fc.assert(
      fc.asyncProperty(drawnData, drawnData, drawnData, async (initial, made, posted) => {
        fc.pre(Object.keys(posted).length > 0);
        const agent = working(
          (_, { update }) => {
            update((draft) => {
              for (const name of Object.keys(draft)) delete draft[name];
              Object.assign(draft, made);
            });
            return "worked";
          },
          {
            data: anything(initial),
            script: [callsTools([{ name: "work" }]), answers("Done."), answers("Yes.")],
          },
        );
        await using scene = new AgUiScene(agent);
        const client = scene.client();
        await say(client, "Work");
        client.setState(posted);
        client.addMessage({ id: "message-2", role: "user", content: "More" });
        await run(client);
        const { code, type } = scene.events.at(-1) as unknown as { type: string; code?: string };
        outcomes.add(code ?? type);
        expect(isSame(await dataOf(scene), code === undefined ? posted : made)).toBe(true);
      }),
      { numRuns: 60 },
    );
    expect(outcomes).toContain("RUN_FINISHED");
  });

  it("is refused where others have changed a place and changed it back, of which the client has seen the first", async () => {
    const half = Promise.withResolvers<void>();
    const script = [callsTools([{ name: "work", arguments: {} }]), answers("Done."), answers("Yes.")];
    const agent = working(
      async (_, { update }) => {
        await update.now((draft) => void (draft["status"] = "working"));
        await half.promise;
        update((draft) => void (draft["status"] = ""));
        return "worked";
      },
      { script, data: anything({ items: [], status: "" }) },
    );
    await using scene = new AgUiScene(agent);
    const client = scene.client();
    const left = say(client, "Work", "message-1");
    await untilPasses(() => expect(client.state).toEqual({ items: [], status: "working" }));
    client.abortRun();
    await left;
    half.resolve();
    const [id = ""] = await scene.sessionIds();
    await expect.poll(async () => (await scene.stateOf(id)).reActContext.control.type).toBe("Done");
    client.setState({ items: [], status: "working", note: "x" });
    client.addMessage({ id: "message-2", role: "user", content: "More" });
    await run(client);
    expect(refusalOf(scene)).toMatchObject({ code: "state-conflict" });
    expect(await dataOf(scene)).toEqual({ items: [], status: "" });
  });

  it("is posted unchanged with an answer to an interrupt that comes when another call was tried again", async () => {
    const clock = new TestClock();
    const data = anything({ items: [] });
    let attempts = 0;
    const fetching = defineTool({
      name: "fetch",
      description: "Fetches.",
      input: { type: "object" },
      replay: "safe",
      retries: 1,
      data,
      execute: (_, { update }) => {
        attempts += 1;
        if (attempts === 1) throw new Error("Try again.");
        update((draft) => void Object.assign(draft as object, { fetched: 1 }));
        return "fetched";
      },
    });
    const pay = toolOf("pay", () => "paid", { approval: "always" });
    const script = [callsTools([{ name: "pay" }, { name: "fetch" }]), answers("Done.")];
    await using scene = new AgUiScene(agentOf(script, { data, tools: [pay, fetching] }), { clock });
    const client = scene.client();
    const saying = say(client, "Pay");
    await expect
      .poll(async () => {
        const [id = ""] = await scene.sessionIds();
        return JSON.stringify((await scene.stateOf(id)).reActContext.control);
      })
      .toContain("retrying");
    await clock.advanceAsync(60_000);
    await saying;
    const [interrupt] = scene.interrupts;
    expect({ state: client.state as unknown, attempts }).toEqual({
      state: { items: [], fetched: 1 },
      attempts: 2,
    });
    const resume = [
      { interruptId: interrupt?.id ?? "", status: "resolved", payload: { approved: true } } as const,
    ];
    await client.runAgent({ resume });
    expect(client.state).toEqual({ items: [], fetched: 1 });
    expect(scene.outcome).toEqual({ type: "success" });
    expect(scene.failures).toEqual([]);
  });

  it("is posted with the answers to interrupts, and keeps what others have changed since", async () => {
    const agent = working((_, { data }) => JSON.stringify(data), { approval: "always" });
    await using scene = new AgUiScene(agent);
    const client = scene.client();
    await say(client, "Pay");
    const [interrupt] = scene.interrupts;
    await changeData(scene, [{ op: "add", path: "/note", value: "soon" }]);
    client.setState({ items: ["tea", "milk"] });
    const resume = [
      { interruptId: interrupt?.id ?? "", status: "resolved", payload: { approved: true } } as const,
    ];
    await client.runAgent({ resume });
    expect(client.state).toEqual({ items: ["tea", "milk"], note: "soon" });
    const result = scene.events.find(({ type }) => type === EventType.TOOL_CALL_RESULT);
    expect(result).toMatchObject({ content: JSON.stringify(client.state) });
    expect(scene.failures).toEqual([]);
  });

  it("leaves the questions open if it is refused with their answers", async () => {
    await using scene = new AgUiScene(working(() => "worked", { approval: "always" }));
    const client = scene.client();
    await say(client, "Work");
    const [interrupt] = scene.interrupts;
    const answer = { interruptId: interrupt?.id ?? "", status: "resolved", payload: { approved: true } };
    const resume = { resume: [answer as typeof answer & { status: "resolved" }] };
    await changeData(scene, [{ op: "replace", path: "/items/0", value: "rice" }]);
    client.setState({ items: ["oil"] });
    await run(client, resume);
    expect(refusalOf(scene)).toMatchObject({ types: refused, code: "state-conflict" });
    client.setState({ items: ["rice", "oil"] });
    await run(client, resume);
    expect(refusalOf(scene).message).toContain('"/items"');
    client.setState({ items: ["rice"] });
    await run(client, resume);
    expect(scene.outcome).toEqual({ type: "success" });
    expect(client.state).toEqual({ items: ["rice"] });
  });

  it("has every change of the page and of others, or none of the page, whatever they are", async () => {
    const own = (fields: object, name: string): unknown =>
      Object.hasOwn(fields, name) ? (fields as Record<string, unknown>)[name] : undefined;
    const outcomes = new Set<unknown>();
    await fc.assert(
      fc.asyncProperty(drawnData, drawnData, drawnData, async (initial, others, posted) => {
        await using scene = new AgUiScene(lister(anything(initial)));
        const client = scene.client();
        await say(client, "Hi");
        await becomes(scene, initial, others);
        client.setState(posted);
        client.addMessage({ id: "message-2", role: "user", content: "More" });
        await run(client);
        const data = (await dataOf(scene)) as object;
        const last = scene.events.at(-1) as unknown as { type: string; code?: string };
        outcomes.add(last.code ?? last.type);
        expect(JSON.stringify(client.state)).toBe(JSON.stringify(data));
        if (last.code !== undefined || Object.keys(posted).length === 0) {
          expect(isSame(data, others)).toBe(true);
          return;
        }
        for (const name of Object.keys({ ...initial, ...others, ...posted })) {
          const [before, theirs, mine] = [own(initial, name), own(others, name), own(posted, name)];
          const found = own(data, name);
          if (isSame(before, mine)) expect(isSame(found, theirs)).toBe(true);
          else if (isSame(before, theirs)) expect(isSame(found, mine)).toBe(true);
        }
      }),
      { numRuns: 60 },
    );
    expect(outcomes).toEqual(new Set(["RUN_FINISHED", "state-conflict"]));
  });

  it("changes what the page has changed, and nothing else, whatever others change during a run and after it", async () => {
    const outcomes = new Set<unknown>();
    await fc.assert(
      fc.asyncProperty(
        drawnData,
        fc.array(drawnData, { maxLength: 3 }),
        fc.array(drawnData, { maxLength: 2 }),
        drawnData,
        async (initial, during, after, edits) => {
          const writes = Promise.withResolvers<void>();
          const script = async () => {
            await writes.promise;
            return answers("Yes.");
          };
          await using scene = new AgUiScene(agentOf(script, { data: anything(initial) }));
          const client = scene.client();
          const first = say(client, "Hi");
          await expect.poll(() => scene.types).toContain(EventType.STATE_SNAPSHOT);
          const theirs = [initial, ...during, ...after];
          const change = async (index: number): Promise<void> =>
            await becomes(scene, theirs[index] ?? {}, theirs[index + 1] ?? {});
          for (const index of during.keys()) await change(index);
          writes.resolve();
          await first;
          for (const index of after.keys()) await change(during.length + index);
          const seen = client.state as Readonly<Record<string, unknown>>;
          const posted = { ...seen, ...edits };
          client.setState(posted);
          client.addMessage({ id: "message-2", role: "user", content: "More" });
          await run(client);
          const { code, type } = scene.events.at(-1) as unknown as { type: string; code?: string };
          outcomes.add(code ?? type);
          const isRecorded = code === undefined && Object.keys(posted).length > 0;
          const changed = Object.entries(edits).filter(
            ([name, edit]) => !isSame(Object.hasOwn(seen, name) ? seen[name] : undefined, edit),
          );
          const expected = { ...theirs.at(-1), ...(isRecorded ? Object.fromEntries(changed) : {}) };
          expect(isSame((await dataOf(scene)) as object, expected)).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
    expect(outcomes).toEqual(new Set(["RUN_FINISHED", "state-conflict"]));
  });
});
