import { LogError, memoryLog, MemoryStorage } from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, expectTypeOf, it, vi } from "vitest";
import * as z from "zod";
import {
  BuildError,
  DataRefused,
  defineAgent,
  defineData,
  defineTool,
  forkSession,
  openSession,
  startSession,
  stateAt,
  verifySession,
  type Agent,
  type AgentConfigChange,
  type Session,
  inputsIn,
} from "../src/index.ts";
import { graphOf } from "@moora/testbed/graph-of";

const cart = defineData({
  schema: z.object({ items: z.array(z.object({ sku: z.string(), quantity: z.number().int().positive() })) }),
  initial: { items: [] },
});

const addItem = defineTool({
  name: "add_item",
  description: "Adds an item to the cart.",
  input: z.object({ sku: z.string(), quantity: z.number().default(1) }),
  data: cart,
  async execute({ sku, quantity }, { update }) {
    const { items } = update((draft) => {
      draft.items.push({ sku, quantity });
    });
    return `${items.length} items`;
  },
});

type Cart = { items: { sku: string; quantity: number }[] };

const shop = (
  script: ConstructorParameters<typeof MockLlmCaller>[0],
  config: AgentConfigChange = {},
): { readonly agent: Agent<string, Cart>; readonly llm: MockLlmCaller } => {
  const llm = new MockLlmCaller(script);
  return { agent: defineAgent({ llm, data: cart, tools: [addItem], config }), llm };
};

const adds = (...skus: readonly string[]) =>
  callsTools(skus.map((sku) => ({ name: "add_item", arguments: { sku } })));

describe("application data of a session", () => {
  it("begins with its initial value, has the type of its schema, and is changed by the application", async () => {
    const session = startSession(shop([]).agent);
    expect(session.current().data).toEqual({ items: [] });
    expectTypeOf(session.current().data.items[0]?.sku).toEqualTypeOf<string | undefined>();
    const receipt = await session.update((draft) => {
      draft.items.push({ sku: "tea", quantity: 2 });
    });
    expect(receipt).toEqual({ status: "accepted", seq: 1 });
    expect(session.current().data.items).toEqual([{ sku: "tea", quantity: 2 }]);
  });

  it("is changed by two tools at once, and loses nothing", async () => {
    const session = startSession(shop([adds("tea", "milk"), answers("Done.")]).agent);
    await session.ask("Tea and milk.");
    expect(session.current().data.items.map(({ sku }) => sku)).toEqual(["tea", "milk"]);
    const results = Object.values(session.current().toolCalls).map(({ result }) => result);
    // Each tool sees the data as it was when its call started.
    expect(results).toMatchObject([{ content: "1 items" }, { content: "1 items" }]);
  });

  it("emits the patches of a change", async () => {
    const session = startSession(shop([]).agent);
    const patches: unknown[] = [];
    session.onEvent((event) => event.type === "DataChanged" && patches.push(...event.patches));
    await session.update((draft) => void draft.items.push({ sku: "tea", quantity: 1 }));
    await session.update((draft) => void (draft.items[0] = { sku: "a/b~c", quantity: 1 }));
    await session.update((draft) => void draft.items.pop());
    expect(patches).toEqual([
      { op: "add", path: "/items/0", value: { sku: "tea", quantity: 1 } },
      { op: "replace", path: "/items/0/sku", value: "a/b~c" },
      { op: "remove", path: "/items/0" },
    ]);
  });

  it("names who has changed it", async () => {
    const session = startSession(shop([]).agent);
    const changedBy: string[] = [];
    session.onInput((input) => void (input.type === "data-changed" && changedBy.push(input.by)));
    await session.update((draft) => void draft.items.push({ sku: "tea", quantity: 1 }), "Ada");
    await session.update((draft) => void draft.items.pop());
    expect(changedBy).toEqual(["Ada", "application"]);
  });

  it("ignores what a recipe returns", async () => {
    const session = startSession(shop([]).agent);
    await session.update((draft) => draft.items.push({ sku: "tea", quantity: 1 }));
    expect(session.current().data.items).toHaveLength(1);
  });

  it("lets a recipe recognize that the data has changed since it was read", async () => {
    const session = startSession(shop([]).agent);
    const { data: read } = session.current();
    const updateRead = (sku: string) =>
      session.update((draft, before) => {
        if (before !== read) throw new Error("It has changed.");
        draft.items.push({ sku, quantity: 1 });
      });
    await updateRead("tea");
    await expect(updateRead("rice")).rejects.toThrow("It has changed.");
    expect(session.current().data.items).toHaveLength(1);
  });

  it("ignores a recipe that changes nothing", async () => {
    const session = startSession(shop([]).agent);
    expect(await session.update(() => undefined)).toEqual({ status: "ignored", reason: "nothing-new" });
    expect(session.seq()).toBe(0);
  });
});

describe("a change is stored as it was made", () => {
  const free = defineData({
    schema: z.record(z.string(), z.unknown()),
    initial: { order: { status: "open" }, history: [] },
  });
  const start = (): Session<string, Record<string, unknown>> =>
    startSession(defineAgent({ llm: new MockLlmCaller([]), data: free }));

  it("also where it puts a part of the draft into a new object", async () => {
    const session = start();
    await session.update((draft) => {
      const { order, history } = Object(draft);
      order.status = "paid";
      history.push({ at: 1, order });
    });
    expect(session.current().data).toEqual({
      order: { status: "paid" },
      history: [{ at: 1, order: { status: "paid" } }],
    });
  });

  it("also where it removes a field that only the prototype has", async () => {
    const session = start();
    await session.update((draft) => {
      Reflect.deleteProperty(draft, "constructor");
      draft["added"] = 1;
    });
    expect(session.current().data["added"]).toBe(1);
  });

  it("and what is too deep or too large is refused, so that the session can be opened again", async () => {
    const session = start();
    let deep: unknown = 1;
    for (let level = 0; level < 110; level += 1) deep = [deep];
    await expect(session.update((draft) => void (draft["deep"] = deep))).rejects.toThrow(DataRefused);
    const many = Array.from({ length: 45_000 }, (_, index) => index);
    await session.update((draft) => void (draft["a"] = many));
    await session.update((draft) => void (draft["b"] = many));
    await expect(session.update((draft) => void (draft["c"] = many))).rejects.toThrow(DataRefused);
    expect(Object.keys(session.current().data)).toEqual(["order", "history", "a", "b"]);
  });

  it.each(["run", "post"] as const)(
    "once, where an append is stored and reported as failed (%s)",
    async (access) => {
      const storage = new MemoryStorage();
      const { agent } = shop([]);
      await (await openSession(agent, { log: memoryLog(storage), id: "ada" })).close();
      let fails = 0;
      const log = withSessions(memoryLog(storage), (session) => ({
        append(expectedSeq, records) {
          void session.append(expectedSeq, records);
          if (!records.some(({ body }) => body.includes("data-changed")) || fails > 0) return;
          fails += 1;
          throw new LogError("LogWrite", "The confirmation was lost.");
        },
      }));
      const session = await openSession(agent, { log, id: "ada", access, onError: () => undefined });
      const receipt = await session.update((draft) => draft.items.push({ sku: "tea", quantity: 1 }));
      expect(fails).toBe(1);
      expect(receipt.status).toBe("accepted");
      expect(session.current().data.items).toHaveLength(1);
      await session.close();
      expect((await stateAt(log, "ada")).state.data).toEqual({ items: [{ sku: "tea", quantity: 1 }] });
    },
  );

  it("and a fork reuses the result of a call whose updates followed one of the application", async () => {
    const log = memoryLog();
    const updated = Promise.withResolvers<void>();
    const slow = defineTool({
      name: "slow",
      description: "Adds an item after the application.",
      input: z.object({}),
      data: cart,
      async execute(_, { update }) {
        await updated.promise;
        update((draft) => draft.items.push({ sku: "tea", quantity: 1 }));
        return "added";
      },
    });
    const llm = new MockLlmCaller([callsTools([{ name: "slow" }]), answers("Done.")]);
    const session = await openSession(defineAgent({ llm, data: cart, tools: [slow] }), { log, id: "ada" });
    let started = 0;
    session.onInput((input, _, seq) => {
      if (!inputsIn(input).some(({ type }) => type === "tool-call-started")) return;
      started = seq;
      void session
        .update((draft) => draft.items.push({ sku: "rice", quantity: 1 }))
        .then(() => updated.resolve());
    });
    await session.ask("Tea.");
    await session.close();
    const fork = await forkSession(log, "ada", started, { as: "fork", open: "reuse" });
    expect(fork.state.toolCalls["call_1"]?.result).toMatchObject({ isSuccess: true, content: "added" });
    expect(fork.state.data).toMatchObject({ items: [{ sku: "rice" }, { sku: "tea" }] });
  });
});

describe("a change that is refused", () => {
  it("names the path of what does not fit the schema, and changes nothing", async () => {
    const session = startSession(shop([]).agent);
    const refused = session.update((draft) => void draft.items.push({ sku: "tea", quantity: 0 }));
    await expect(refused).rejects.toThrow(DataRefused);
    await expect(refused).rejects.toThrow("The data was refused: items[0].quantity");
    expect(session.seq()).toBe(0);
  });

  it.each<[string, (draft: Cart) => unknown, string]>([
    ["a date", (draft) => Object.assign(draft, { at: new Date(0) }), "at"],
    ["an undefined field", (draft) => Object.assign(draft, { at: undefined }), "at"],
    ["a promise", async () => undefined, "synchronous"],
    ["a generator", function* () {}, "this one is a generator"],
    ["an asynchronous generator", async function* () {}, "this one is a generator"],
    ["a thrown error", () => JSON.parse("{"), "JSON"],
  ])("for %s", async (_, recipe, message) => {
    const onError = vi.fn();
    const session = startSession(shop([]).agent, { onError });
    const refused = session.update((draft) => recipe(draft));
    await expect(refused).rejects.toThrow(message);
    expect(session.current().data).toEqual({ items: [] });
    expect(onError).not.toHaveBeenCalled();
    // The session continues.
    expect(await session.update((draft) => void draft.items.push({ sku: "a", quantity: 1 }))).toMatchObject({
      status: "accepted",
    });
  });

  it("in a tool is an exception of update, which the tool may catch", async () => {
    const llm = new MockLlmCaller([callsTools([{ name: "spoil" }]), answers("Done.")]);
    const spoil = defineTool({
      name: "spoil",
      description: "Spoils the cart.",
      input: z.object({}),
      data: cart,
      execute: (_, { update }) => void update((draft) => void draft.items.push({ sku: "x", quantity: -1 })),
    });
    const session = startSession(defineAgent({ llm, data: cart, tools: [spoil] }));
    await session.ask("Go.");
    expect(session.current().toolCalls["call_1"]?.result).toMatchObject({
      isSuccess: false,
      error: expect.stringContaining("items[0].quantity"),
    });
    expect(session.current().data.items).toEqual([]);
  });

  it("without data is refused with a typed error", async () => {
    const session = startSession(defineAgent({ llm: new MockLlmCaller([]) }));
    await expect(session.update(() => undefined)).rejects.toMatchObject({ code: "no-data" });
  });
});

describe("updates of a tool are committed with its result", () => {
  const limited = defineData({ schema: z.object({ left: z.number().min(0) }), initial: { left: 1 } });

  it("a tool that fails changes nothing", async () => {
    const llm = new MockLlmCaller([callsTools([{ name: "fail" }]), answers("Done.")]);
    const fail = defineTool({
      name: "fail",
      description: "Fails.",
      input: z.object({}),
      data: limited,
      execute(_, { update }) {
        update((draft) => void (draft.left = 0));
        throw new Error("No.");
      },
    });
    const session = startSession(defineAgent({ llm, data: limited, tools: [fail] }));
    await session.ask("Go.");
    expect(session.current().data).toEqual({ left: 1 });
  });

  it("of two tools that take the last one, the second fails and changes nothing", async () => {
    const llm = new MockLlmCaller([callsTools([{ name: "take" }, { name: "take" }]), answers("Done.")]);
    const take = defineTool({
      name: "take",
      description: "Takes one.",
      input: z.object({}),
      data: limited,
      async execute(_, { update }) {
        update((draft) => void (draft.left -= 1));
        return "taken";
      },
    });
    const session = startSession(defineAgent({ llm, data: limited, tools: [take] }));
    await session.ask("Go.");
    expect(session.current().data).toEqual({ left: 0 });
    const results = Object.values(session.current().toolCalls).map(({ result }) => result);
    expect(results).toMatchObject([
      { isSuccess: true, content: "taken" },
      { isSuccess: false, code: "data-refused" },
    ]);
  });

  it("an update after the end of the call is an error", async () => {
    let later: (() => unknown) | undefined;
    const llm = new MockLlmCaller([callsTools([{ name: "leak" }]), answers("Done.")]);
    const leak = defineTool({
      name: "leak",
      description: "Leaks.",
      input: z.object({}),
      data: limited,
      execute: (_, { update }) => void (later = () => update((draft) => void (draft.left = 0))),
    });
    await startSession(defineAgent({ llm, data: limited, tools: [leak] })).ask("Go.");
    expect(() => later?.()).toThrow("The call has ended.");
  });
});

describe("application data in a log", () => {
  it("is replayed without the code of recipes, verified, and read at any position", async () => {
    const log = memoryLog();
    const { agent } = shop([adds("tea"), answers("Done.")]);
    const session = await openSession(agent, { log, id: "ada" });
    await session.update((draft) => void draft.items.push({ sku: "rice", quantity: 1 }), "Ada");
    const { seq } = session.info();
    await session.ask("Tea.");
    await session.close();
    expect((await stateAt(log, "ada", seq)).state.data).toEqual({ items: [{ sku: "rice", quantity: 1 }] });
    expect(await verifySession(log, "ada")).toMatchObject({ ok: true });
    await using again = await openSession(shop([]).agent, { log, id: "ada" });
    expect(again.current().data.items.map(({ sku }) => sku)).toEqual(["rice", "tea"]);
  });

  it("is migrated by one recorded input, and old records stay valid", async () => {
    const log = memoryLog();
    const first = await openSession(shop([]).agent, { log, id: "ada" });
    await first.update((draft) => void draft.items.push({ sku: "tea", quantity: 1 }));
    await first.close();
    const counts = defineData({
      schema: z.object({ skus: z.array(z.string()) }),
      initial: { skus: [] },
      version: 2,
      migrate: (stored) => {
        const { items } = z.object({ items: z.array(z.object({ sku: z.string() })) }).parse(stored);
        return { skus: items.map(({ sku }) => sku) };
      },
    });
    const agent = defineAgent({ llm: new MockLlmCaller([]), data: counts });
    for (const openings of [1, 2]) {
      await using session = await openSession(agent, { log, id: "ada" });
      expect(session.current().data).toEqual({ skus: ["tea"] });
      expect(session.current().dataStatus?.version, `opening ${openings}`).toBe(2);
    }
    expect(await verifySession(log, "ada")).toMatchObject({ ok: true });
    // The older release cannot use the newer data.
    await expect(openSession(shop([]).agent, { log, id: "ada" })).rejects.toThrow(
      "it has version 2, and this agent has version 1. Open the session with the newer release.",
    );
  });

  it.each<[string, Parameters<typeof defineData>[0], string]>([
    ["older than a definition without migrate", { schema: z.object({}), initial: {}, version: 2 }, "Give"],
    [
      "of another form and the same version",
      { schema: z.object({ n: z.number() }), initial: { n: 1 } },
      "increase version and give migrate",
    ],
    [
      "whose migrate throws",
      {
        schema: z.object({}),
        initial: {},
        version: 2,
        migrate() {
          throw new Error("boom");
        },
      },
      "migrate failed: boom",
    ],
    [
      "whose migrate is asynchronous",
      { schema: z.object({}), initial: {}, version: 2, migrate: async () => ({}) },
      "migrate must be synchronous",
    ],
  ])("is refused if it is %s, and the session can be opened again at once", async (_, options, message) => {
    const log = memoryLog();
    await (await openSession(shop([]).agent, { log, id: "ada" })).close();
    const agent = defineAgent({ llm: new MockLlmCaller([]), data: defineData(options) });
    const refused = openSession(agent, { log, id: "ada" });
    await expect(refused).rejects.toThrow(DataRefused);
    await expect(refused).rejects.toThrow(message);
    await (await openSession(shop([]).agent, { log, id: "ada" })).close();
  });

  it("cannot be changed by what reads it", async () => {
    const session = startSession(shop([adds("tea"), answers("Done.")]).agent);
    await session.ask("Tea.");
    const items = Object(session.current().data.items);
    expect(() => items.push("x")).toThrow(TypeError);
    expect(() => Object.assign(Object(items[0]), { sku: "x" })).toThrow(TypeError);
    const other = startSession(shop([]).agent);
    expect(() => Object.assign(Object(other.current().data), { items: 1 })).toThrow(TypeError);
  });

  it("is given to a session that was created without data", async () => {
    const log = memoryLog();
    await (await openSession(defineAgent({ llm: new MockLlmCaller([]) }), { log, id: "ada" })).close();
    const session = await openSession(shop([]).agent, { log, id: "ada" });
    expect(session.current().data).toEqual({ items: [] });
    await session.close();
    expect(await verifySession(log, "ada")).toMatchObject({ ok: true });
  });

  it("is changed by a poster, and its recipe runs again if the owner was first", async () => {
    const log = memoryLog();
    await using owner = await openSession(shop([]).agent, { log, id: "ada" });
    await using poster = await openSession(shop([]).agent, { log, id: "ada", access: "post" });
    await Promise.all([
      owner.update((draft) => void draft.items.push({ sku: "tea", quantity: 1 })),
      poster.update((draft) => void draft.items.push({ sku: "milk", quantity: 1 })),
    ]);
    await owner.refresh();
    await poster.refresh();
    expect(
      owner
        .current()
        .data.items.map(({ sku }) => sku)
        .toSorted(),
    ).toEqual(["milk", "tea"]);
    expect(poster.current().data).toEqual(owner.current().data);
  });
});

describe("showData", () => {
  it("adds a note with the data when it has changed since the model saw it, and only then", async () => {
    const { agent, llm } = shop([adds("tea"), answers("One."), answers("Two.")], { showData: "changed" });
    const session = startSession(agent);
    await session.ask("Tea.");
    await session.ask("And?");
    const texts = llm.requests.map((request) => JSON.stringify(request));
    expect(texts[0]).toContain('{\\"items\\":[]}');
    expect(texts[1]).toContain('{\\"items\\":[{\\"sku\\":\\"tea\\",\\"quantity\\":1}]}');
    expect(texts[2]?.split("The data of the application is now").length).toBe(3);
  });

  it("is refused for an agent without data", async () => {
    const message =
      'config.showData is "changed", and the agent has no data. Give defineAgent({ data }), or remove showData.';
    const llm = new MockLlmCaller([]);
    expect(() => defineAgent({ llm, config: { showData: "changed" } })).toThrow(new BuildError(message));
    await using session = startSession(defineAgent({ llm }));
    await expect(session.configure({ showData: "changed" })).rejects.toThrow(new BuildError(message));
  });
});

describe("handlers of custom states", () => {
  const steps = defineData({ schema: z.object({ count: z.number().max(1) }), initial: { count: 0 } });
  const graph = graphOf({
    Planning: { LlmFinalAnswer: "Count" },
    Count: { Counted: "Done", HandlerFailed: "Done" },
  });

  it("read and change the data, together with their decision", async () => {
    const seen: unknown[] = [];
    const agent = defineAgent({
      llm: new MockLlmCaller([answers("A."), answers("B.")]),
      data: steps,
      config: { graph },
      states: {
        Count(_, { data, update }) {
          expectTypeOf(data).toEqualTypeOf<{ readonly count: number }>();
          seen.push(data.count, update((draft) => void (draft.count += 1)).count);
          return "Counted";
        },
      },
    });
    const session = startSession(agent);
    await session.ask("Go.");
    expect(session.current().data).toEqual({ count: 1 });
    // The second one does not fit the schema: the handler fails, and the data stays.
    await session.ask("Again.");
    expect(session.current().data).toEqual({ count: 1 });
    expect(seen).toEqual([0, 1]);
  });
});

describe("defineData and defineAgent refuse what cannot work", () => {
  it.each<[string, () => unknown, string]>([
    [
      "an initial value that does not fit",
      () => defineData({ schema: z.object({ n: z.number() }), initial: JSON.parse('{"n":"x"}') }),
      "initial of defineData does not fit",
    ],
    [
      "an initial value without a field that the schema adds",
      () => defineData({ schema: z.object({ n: z.number().default(1) }), initial: JSON.parse("{}") }),
      "initial of defineData is not what its schema makes of it",
    ],
    [
      "an initial value with a misspelled field",
      () => defineData({ schema: z.object({ n: z.number().optional() }), initial: JSON.parse('{"m":1}') }),
      "initial of defineData is not what its schema makes of it",
    ],
    [
      "an initial value that is not an object or an array",
      () => defineData({ schema: z.unknown(), initial: 3 }),
      "initial of defineData must be an object or an array, got 3.",
    ],
    [
      "a version that is not a positive integer",
      () => defineData({ schema: z.object({}), initial: {}, version: 0 }),
      "version of defineData must be a positive integer, got 0.",
    ],
    [
      "a tool whose data the agent does not have",
      () => defineAgent({ llm: new MockLlmCaller([]), tools: [addItem] }),
      "The tool add_item uses data that the agent does not have.",
    ],
    [
      "a missing initial value",
      () => defineData(JSON.parse('{ "schema": { "type": "object" } }')),
      "initial of defineData is missing.",
    ],
    [
      "a migrate that is never called",
      () => defineData({ schema: z.object({}), initial: {}, migrate: () => ({}) }),
      "migrate of defineData needs a version of 2 or more, got version 1",
    ],
    [
      "data that was not defined",
      () => defineAgent({ llm: new MockLlmCaller([]), data: JSON.parse("{}") }),
      "data must be what defineData returned",
    ],
  ])("%s", (_, call, message) => expect(call).toThrow(message));
});
