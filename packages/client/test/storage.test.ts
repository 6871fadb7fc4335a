import { answers, callsTools } from "@moora/llm/testing";
import { turn, untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import {
  localPostStorage,
  type LocalPostStorageOptions,
  type PostStorage,
  type RemoteSession,
  type TextStore,
} from "../src/index.ts";
import { agentOf, Scene, toolOf } from "./support.ts";

/** What `localStorage` of a browser is: it outlives pages. */
class Texts implements TextStore {
  readonly texts = new Map<string, string>();
  get length(): number {
    return this.texts.size;
  }
  readonly key = (index: number): string | null => [...this.texts.keys()][index] ?? null;
  readonly getItem = (key: string): string | null => this.texts.get(key) ?? null;
  readonly setItem = (key: string, value: string): void => void this.texts.set(key, value);
  readonly removeItem = (key: string): void => void this.texts.delete(key);
}

const talker = () => agentOf(() => answers("Yes."));

const usersOf = ({ current }: Pick<RemoteSession, "current">): readonly string[] =>
  current().messages.flatMap(({ role, content }) => (role === "user" ? [content] : []));

/** A page that is offline. `leave` is the end of the page: it has no chance to do anything. */
async function offlinePage(scene: Scene, storage: PostStorage, id?: string) {
  const { session, network } = await scene.connect({ storage, ...(id === undefined ? {} : { id }) });
  network.goOffline();
  const leave = (): void => void session.close();
  return { session, network, leave };
}

/** Posts whose page is closed before they are sent. */
const lost = (posts: readonly Promise<unknown>[]): void => void Promise.allSettled(posts);

const post = (key: string) => ({ key, kind: "messages", body: { content: key } }) as const;

function fail(message: string): never {
  throw new Error(message);
}

const storageOf = (options: LocalPostStorageOptions = {}) =>
  localPostStorage({ store: new Texts(), ...options });

describe("posts of a page that was closed", () => {
  it("are sent by the next page, once and in order, and shown until then", async () => {
    await using scene = new Scene(talker());
    const texts = new Texts();
    const storage = localPostStorage({ store: texts, clock: scene.clock });
    const { session, leave } = await offlinePage(scene, storage);
    lost([session.send("One"), session.send({ content: "Two" })]);
    leave();
    expect(texts.length).toBe(2);
    const { session: next } = await scene.connect({ storage, id: session.id });
    expect(next.connection().pending).toMatchObject([{ content: "One" }, { content: "Two" }]);
    await untilPasses(() => expect(usersOf(next)).toEqual(["One", "Two"]));
    await untilPasses(() => expect(next.connection().pending).toEqual([]));
    expect(texts.length).toBe(0);
    const { session: last } = await scene.connect({ storage, id: session.id });
    expect(usersOf(last)).toEqual(["One", "Two"]);
  });

  it("are applied once if the server had them, and if two pages send them", async () => {
    await using scene = new Scene(talker());
    const texts = new Texts();
    const storage = localPostStorage({ store: texts, clock: scene.clock });
    const { session, network } = await scene.connect({ storage });
    network.losesNextReceipt = true;
    lost([session.send("One")]);
    await untilPasses(() => expect(usersOf(session)).toEqual(["One"]));
    network.goOffline();
    await session.close();
    const pages = await Promise.all([1, 2].map(() => scene.connect({ storage, id: session.id })));
    for (const { session: page } of pages) {
      expect(usersOf(page)).toEqual(["One"]);
      expect(page.connection().pending).toEqual([]);
    }
    for (const { session: page } of pages)
      await untilPasses(() => expect(page.connection()).toEqual({ status: "connected", pending: [] }));
    await untilPasses(() => expect(texts.length).toBe(0));
    for (const { session: page } of pages) expect(usersOf(page)).toEqual(["One"]);
  });

  it("contain decisions", async () => {
    const paid: unknown[] = [];
    const pay = toolOf("pay", (input) => (paid.push(input), "paid"), { approval: "always" });
    await using scene = new Scene(
      agentOf([callsTools([{ name: "pay" }]), answers("Paid.")], { tools: [pay] }),
    );
    const storage = storageOf({ clock: scene.clock });
    const { session, network } = await scene.connect({ storage });
    await session.send("Pay");
    await untilPasses(() => expect(session.questions()).toHaveLength(1));
    network.goOffline();
    lost(session.questions().map((question) => session.decide(question, { approve: { cents: 7 } })));
    await session.close();
    const { session: next } = await scene.connect({ storage, id: session.id });
    await untilPasses(() => expect(next.current().messages.at(-1)?.content).toBe("Paid."));
    expect(paid).toEqual([{ cents: 7 }]);
  });

  it("are not cancels, pauses, retries and changes of data: they concern the moment in which they were made", async () => {
    await using scene = new Scene(talker());
    const texts = new Texts();
    const { session, leave } = await offlinePage(scene, localPostStorage({ store: texts }));
    lost([
      session.cancel(),
      session.pause(),
      session.resume(),
      session.retry(),
      session.update(() => undefined),
    ]);
    leave();
    expect(texts.length).toBe(0);
  });

  it("are never sent to another session, and not as another user", async () => {
    let user = "ada";
    await using scene = new Scene(talker(), { authorize: () => ({ user, mayForeign: () => true }) });
    const texts = new Texts();
    const storage = localPostStorage({ store: texts, clock: scene.clock });
    const { session, leave } = await offlinePage(scene, storage);
    lost([session.send("Mine")]);
    leave();
    const { session: another } = await scene.connect({ storage });
    expect(another.connection().pending).toEqual([]);
    user = "bob";
    const { session: foreign } = await scene.connect({ storage, id: session.id });
    expect(foreign.connection().pending).toEqual([]);
    expect(texts.length).toBe(1);
  });

  it("are not sent to a session that was removed and created again", async () => {
    await using scene = new Scene(talker());
    const chat = async (text: string): Promise<void> => {
      const body = JSON.stringify({
        id: "c",
        messages: [{ id: text, role: "user", parts: [{ type: "text", text }] }],
      });
      const init = { method: "POST", headers: { "content-type": "application/json" }, body };
      await (await scene.server.fetch(new Request("http://localhost/agents/helper/chat", init))).text();
    };
    await chat("Before");
    const id = (await scene.log.list())[0]?.id ?? "";
    const storage = storageOf({ clock: scene.clock });
    const { session, leave } = await offlinePage(scene, storage, id);
    lost([session.send("Mine")]);
    leave();
    await scene.server.fetch(new Request(`http://localhost/sessions/${id}`, { method: "DELETE" }));
    await chat("After");
    const { session: next } = await scene.connect({ storage, id });
    expect(next.connection().pending).toEqual([]);
    expect(usersOf(next)).toEqual(["After"]);
  });

  it("are removed when the server refuses them, and reported", async () => {
    await using scene = new Scene(talker());
    const texts = new Texts();
    const storage = localPostStorage({ store: texts, clock: scene.clock });
    const { session, leave } = await offlinePage(scene, storage);
    const attachments = [{ mediaType: "text/plain", url: `data:,${"x".repeat(900_000)}` }];
    lost([session.send({ content: "Look", attachments })]);
    leave();
    for (const [key, text] of texts.texts) texts.setItem(key, text.replace('"content"', '"contents"'));
    const errors: unknown[] = [];
    await scene.connect({ storage, id: session.id, onError: ({ error }) => void errors.push(error) });
    await untilPasses(() => expect(errors).toMatchObject([{ name: "ClientError", code: "Refused" }]));
    expect(texts.length).toBe(0);
  });
});

describe("a storage of posts", () => {
  it("that fails is reported, and the post is sent", async () => {
    await using scene = new Scene(talker());
    const broken: PostStorage = {
      list: () => [],
      add: async () => await Promise.reject(new Error("No space is left.")),
      remove: () => {
        throw new Error("It is locked.");
      },
    };
    const errors: unknown[] = [];
    const { session } = await scene.connect({
      storage: broken,
      onError: ({ error }) => void errors.push(error),
    });
    expect(await session.send("One")).toMatchObject({ status: "accepted" });
    await untilPasses(() =>
      expect(errors).toMatchObject([{ message: "No space is left." }, { message: "It is locked." }]),
    );
  });

  it.each([
    ["throws", () => fail("It is locked.")],
    ["rejects", async () => fail("It is locked.")],
  ])("that cannot be read is reported, and the session is connected: list %s", async (_, list) => {
    await using scene = new Scene(talker());
    const errors: unknown[] = [];
    const { session } = await scene.connect({
      storage: { ...storageOf(), list },
      onError: ({ error }) => void errors.push(error),
    });
    expect(errors).toMatchObject([{ message: "It is locked." }]);
    expect(await session.send("One")).toMatchObject({ status: "accepted" });
  });

  it("with a damaged post reports that, removes it, and sends the others", async () => {
    await using scene = new Scene(talker());
    const texts = new Texts();
    const storage = localPostStorage({ store: texts, clock: scene.clock });
    const { session, leave } = await offlinePage(scene, storage);
    lost([session.send("One"), session.send("Two")]);
    leave();
    const [first = ""] = [...texts.texts.keys()].toSorted();
    texts.setItem(first, texts.getItem(first)?.slice(0, -5) ?? "");
    const errors: unknown[] = [];
    const { session: next } = await scene.connect({
      storage,
      id: session.id,
      onError: ({ error }) => void errors.push(error),
    });
    expect(errors).toMatchObject([
      { name: "ClientError", code: "PostDamaged", cause: { name: "SyntaxError" } },
    ]);
    await untilPasses(() => expect(usersOf(next)).toEqual(["Two"]));
    await untilPasses(() => expect(texts.length).toBe(0));
  });

  it("may take its time: changes are made one after the other", async () => {
    await using scene = new Scene(talker());
    const calls: string[] = [];
    const slow: PostStorage = {
      list: () => [],
      async add(_, { body }) {
        calls.push(`add ${JSON.stringify(body)}`);
        for (let turns = 0; turns < 20; turns += 1) await turn();
        calls.push("added");
      },
      async remove() {
        calls.push("remove");
      },
    };
    const { session } = await scene.connect({ storage: slow });
    await session.send("One");
    await untilPasses(() => expect(calls).toEqual(['add {"content":"One"}', "added", "remove"]));
  });

  it("of a wrong form is refused", async () => {
    await using scene = new Scene(talker());
    const storage = { list: () => [] } as unknown as PostStorage;
    await expect(scene.connect({ storage })).rejects.toThrow(
      "storage must be an object with list, add and remove",
    );
  });
});

describe("localPostStorage", () => {
  it("keeps a post that it cannot read at present", async () => {
    const store = new Texts();
    const { getItem } = store;
    const storage = localPostStorage({ store });
    void storage.add("s", post("a"));
    Object.assign(store, { getItem: () => fail("It is locked.") });
    expect(() => storage.list("s")).toThrow("It is locked.");
    Object.assign(store, { getItem });
    expect(await storage.list("s")).toEqual([post("a")]);
  });

  it("removes a damaged post also if its report throws", async () => {
    const store = new Texts();
    const storage = localPostStorage({ store });
    for (const key of ["a", "b"]) void storage.add("s", post(key));
    const [first = ""] = [...store.texts.keys()].toSorted();
    store.setItem(first, "{");
    expect(() => storage.list("s", () => fail("The report failed."))).toThrow("The report failed.");
    const errors: unknown[] = [];
    expect(await storage.list("s", (error) => void errors.push(error))).toEqual([post("b")]);
    expect(errors).toEqual([]);
  });

  it.each([
    ["has none", { value: undefined }, /Pass store/],
    ["blocks it", { get: () => fail("Access is denied.") }, "Access is denied."],
  ])("is made without localStorage, and says at its use that the platform %s", (_, property, message) => {
    const own = Object.getOwnPropertyDescriptor(globalThis, "localStorage");
    Object.defineProperty(globalThis, "localStorage", { ...property, configurable: true });
    try {
      const storage = localPostStorage();
      expect(() => storage.list("s")).toThrow(message);
      expect(() => storage.add("s", post("a"))).toThrow(message);
      expect(() => storage.clear()).toThrow(message);
    } finally {
      Reflect.deleteProperty(globalThis, "localStorage");
      if (own !== undefined) Object.defineProperty(globalThis, "localStorage", own);
    }
  });

  it("keeps the order of posts, also of one millisecond and of several pages", async () => {
    await using scene = new Scene(talker());
    const store = new Texts();
    const first = localPostStorage({ store, clock: scene.clock });
    for (let index = 0; index < 12; index += 1) void first.add("s", post(`a${index}`));
    await scene.clock.advanceAsync(1);
    void localPostStorage({ store, clock: scene.clock }).add("s", post("b"));
    const keys = (await first.list("s")).map(({ key }) => key);
    expect(keys).toEqual([...Array.from({ length: 12 }, (_, index) => `a${index}`), "b"]);
    expect(await first.list("t")).toEqual([]);
    void first.remove("t", "b");
    void first.remove("s", "a3");
    expect(await first.list("s")).toHaveLength(12);
  });

  it("is bounded in number and in size", () => {
    const byNumber = storageOf({ maxPosts: 2 });
    void byNumber.add("s", post("a"));
    void byNumber.add("t", post("b"));
    expect(() => byNumber.add("s", post("c"))).toThrow(/The storage of posts is full/);
    void byNumber.remove("t", "b");
    void byNumber.add("s", post("c"));
    const bySize = storageOf({ maxCharacters: 100 });
    void bySize.add("s", post("x".repeat(40)));
    expect(() => bySize.add("s", post("x".repeat(40)))).toThrow(RangeError);
  });

  it("forgets what is too old, and what another program has changed", async () => {
    await using scene = new Scene(talker());
    const store = new Texts();
    const storage = localPostStorage({ store, clock: scene.clock, maxAgeMs: 1_000 });
    void storage.add("s", post("a"));
    await scene.clock.advanceAsync(1_001);
    void storage.add("s", post("b"));
    store.setItem("moora-post/999999999999999-000001/s/c", "{");
    store.setItem("moora-post/999999999999999-000002/s/d", "null");
    store.setItem("moora-post/999999999999999-000003/s/e", '{"kind":"cancel","body":{}}');
    store.setItem("other", "kept");
    const errors: unknown[] = [];
    expect(await storage.list("s", (error) => void errors.push(error))).toEqual([post("b")]);
    expect(errors).toMatchObject(
      ["c", "d", "e"].map((key) => ({
        name: "ClientError",
        code: "PostDamaged",
        message: expect.stringContaining(`"${key}"`),
      })),
    );
    expect(store.length).toBe(2);
    storage.clear();
    expect([...store.texts.keys()]).toEqual(["other"]);
  });

  it("refuses options that do not fit", () => {
    expect(() => localPostStorage({ maxPosts: 0 })).toThrow("maxPosts must be a positive number, got 0.");
  });
});
