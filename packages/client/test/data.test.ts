import { defineData, openSession, removeSession, type JsonObject } from "@moora/agent";
import { answers } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { agentOf, Scene, stateOf } from "./support.ts";

interface Cart {
  items: string[];
  note?: string;
  [field: string]: unknown;
}

const cart = (schema: object = { type: "object" }, initial: JsonObject = { items: ["tea"] }) =>
  agentOf(() => answers("Yes."), { data: defineData({ schema: { ...schema }, initial }) });

describe("an update of a remote session", () => {
  it("applies a recipe, and runs it again when another client was first", async () => {
    await using scene = new Scene(cart());
    const { session: ada } = await scene.connect<string, Cart>();
    const { session: bob } = await scene.connect<string, Cart>({ id: ada.id });
    const runs = { ada: 0, bob: 0 };
    const receipts = await Promise.all([
      ada.update((draft) => {
        runs.ada += 1;
        draft.items.push(`${draft.items.length} milk`);
      }),
      bob.update((draft) => {
        runs.bob += 1;
        draft.items.push(`${draft.items.length} salt`);
      }),
    ]);
    expect(receipts.map(({ status }) => status)).toEqual(["accepted", "accepted"]);
    expect(runs.ada + runs.bob).toBe(3);
    await ada.update((draft) => void (draft.note = "soon"));
    const { items, note } = ada.current().data;
    expect(items.map((item) => item.replace(/^\d /, "")).toSorted()).toEqual(["milk", "salt", "tea"]);
    expect(items.slice(1).map((item) => item[0])).toEqual(["1", "2"]);
    expect(note).toBe("soon");
    await ada.verify();
  });

  it("costs what it changes, with data that is longer than a body may be", async () => {
    const rows = Array.from({ length: 30_000 }, (_, index) => ({ key: `k${index}`, value: "x".repeat(30) }));
    await using scene = new Scene(cart({}, { items: [], rows }));
    const { session, network } = await scene.connect<string, Cart>();
    network.bodies.length = 0;
    const receipt = await session.update((draft) => {
      const [first] = draft["rows"] as { value: string }[];
      if (first !== undefined) first.value = "changed";
    });
    expect(receipt).toMatchObject({ status: "accepted" });
    expect(session.current().data["rows"]).toMatchObject({ 0: { key: "k0", value: "changed" } });
    expect(JSON.stringify(session.current().data).length).toBeGreaterThan(1_600_000);
    for (const body of network.bodies) expect(body.length).toBeLessThan(1_000);
    await session.verify();
  });

  it("of two clients that count loses nothing", async () => {
    await using scene = new Scene(cart());
    const { session: ada } = await scene.connect<string, Cart>();
    const { session: bob } = await scene.connect<string, Cart>({ id: ada.id });
    const count = (draft: Cart): void => void (draft["count"] = Number(draft["count"] ?? 0) + 1);
    const receipts = await Promise.all(
      [ada, bob].flatMap((session) => Array.from({ length: 50 }, () => session.update(count))),
    );
    expect(new Set(receipts.map(({ status }) => status))).toEqual(new Set(["accepted"]));
    for (const session of [ada, bob]) expect(session.current().data["count"]).toBe(100);
  });

  it("runs again if the data has changed since its session has read it, and not if other records were added", async () => {
    await using scene = new Scene(cart());
    const { session: ada, network } = await scene.connect<string, Cart>();
    const { session: bob } = await scene.connect<string, Cart>({ id: ada.id });
    network.holdsRecords = true;
    await bob.ask("Hello");
    let runs = 0;
    const push = (draft: Cart): void => {
      runs += 1;
      draft.items.push(`${draft.items.length}`);
    };
    const first = ada.update(push);
    await untilPasses(() => expect(bob.current().data.items).toEqual(["tea", "1"]));
    expect(runs).toBe(1);
    network.holdsRecords = false;
    network.drop();
    await scene.settles(first);
    network.holdsRecords = true;
    await bob.update((draft) => void draft.items.push("salt"));
    const second = ada.update(push);
    await untilPasses(() =>
      expect(network.requests.filter((request) => request === "POST /data")).toHaveLength(2),
    );
    network.holdsRecords = false;
    network.drop();
    await scene.settles(second);
    expect(runs).toBe(3);
    expect(ada.current().data.items).toEqual(["tea", "1", "salt", "3"]);
  });

  it("is applied once if its receipt is lost, also if the data has changed since", async () => {
    await using scene = new Scene(cart());
    const { session: ada, network } = await scene.connect<string, Cart>();
    const { session: bob } = await scene.connect<string, Cart>({ id: ada.id });
    network.losesNextReceipt = true;
    let runs = 0;
    const update = ada.update((draft) => {
      runs += 1;
      draft.items.push("milk");
    });
    await untilPasses(() => expect(bob.current().data.items).toEqual(["tea", "milk"]));
    await bob.update((draft) => void draft.items.push("salt"));
    await scene.settles(update);
    await untilPasses(() => expect(ada.current().data.items).toEqual(["tea", "milk", "salt"]));
    expect(runs).toBe(1);
  });

  it("is applied by a server that has started again", async () => {
    await using scene = new Scene(cart());
    const { session } = await scene.connect<string, Cart>();
    await session.update((draft) => void draft.items.push("milk"));
    await scene.restart();
    expect(await scene.settles(session.update((draft) => void draft.items.push("salt")))).toMatchObject({
      status: "accepted",
    });
    expect(session.current().data.items).toEqual(["tea", "milk", "salt"]);
  });

  it("is rejected by a session that was removed and created again with the same id", async () => {
    await using scene = new Scene(cart());
    const { session, network } = await scene.connect<string, Cart>();
    network.holdsRecords = true;
    await removeSession(scene.log, session.id);
    await using owner = await openSession(cart(), { log: scene.log, id: session.id });
    await owner.send("Other");
    await owner.close();
    await scene.restart();
    await expect(
      scene.settles(session.update((draft) => void draft.items.push("lost"))),
    ).rejects.toMatchObject({ name: "ClientError" });
    const { data } = JSON.parse(await scene.stateOf(session.id));
    expect(data).toEqual({ items: ["tea"] });
  });

  it("does not hold a cancel back while it is made again and again", async () => {
    await using scene = new Scene(cart());
    const { session, network } = await scene.connect<string, Cart>();
    network.isDataBusy = true;
    const order: string[] = [];
    const update = session
      .update((draft) => void draft.items.push("milk"))
      .then(({ status }) => order.push(`update ${status}`));
    const cancel = session.cancel("stop").then(({ status }) => order.push(`cancel ${status}`));
    const sent = session.send("Hi").then(({ status }) => order.push(`message ${status}`));
    await cancel;
    expect(order).toEqual(["cancel ignored"]);
    network.isDataBusy = false;
    await Promise.all([update, sent]);
    expect(order).toEqual(["cancel ignored", "update accepted", "message accepted"]);
    expect(session.current().data.items).toEqual(["tea", "milk"]);
  });

  it("changes nothing for a recipe that changes nothing, throws, or does not fit", async () => {
    const schema = { type: "object", properties: { items: { type: "array", items: { type: "string" } } } };
    await using scene = new Scene(cart(schema));
    const { session } = await scene.connect<string, Cart>();
    const before = stateOf(session);
    expect(await session.update(() => undefined)).toEqual({ status: "ignored", reason: "nothing-new" });
    await expect(
      session.update(() => {
        throw new RangeError("Too much.");
      }),
    ).rejects.toThrow("Too much.");
    await expect(session.update((draft) => void (draft["items"] = [5] as never))).rejects.toMatchObject({
      name: "ClientError",
      code: "Refused",
      problem: { status: 422, code: "refused" },
    });
    await expect(session.update(() => Promise.resolve() as unknown)).rejects.toThrow(/must be synchronous/);
    for (const value of [Number.NaN, new Date(0), new Map([["a", 1]]), undefined])
      await expect(session.update((draft) => void (draft["new"] = value))).rejects.toThrow(/new: .*JSON/);
    await expect(session.update("recipe" as never)).rejects.toMatchObject({
      name: "InputRefused",
      path: "recipe",
    });
    expect(stateOf(session)).toBe(before);
  });

  it("may change more places than one post has", async () => {
    await using scene = new Scene(cart());
    const { session } = await scene.connect<string, Cart>();
    const keys = Array.from({ length: 2_000 }, (_, index) => `k${index}`);
    await session.update((draft) => {
      draft["rows"] = Object.fromEntries(keys.map((key) => [key, { value: 0 }]));
      draft["pairs"] = keys.map((key) => ({ key, tags: [] }));
    });
    await session.update((draft) => {
      draft.note = "changed";
      const { rows, pairs } = draft as unknown as {
        rows: Record<string, { value: number }>;
        pairs: { key: string }[];
      };
      for (const row of Object.values(rows)) row.value = 1;
      for (const pair of pairs) pair.key = "";
      delete rows["k7"];
    });
    const { note, rows, pairs } = session.current().data;
    expect(note).toBe("changed");
    expect(rows).toEqual(
      Object.fromEntries(keys.filter((key) => key !== "k7").map((key) => [key, { value: 1 }])),
    );
    expect(pairs).toEqual(keys.map(() => ({ key: "", tags: [] })));
    await session.verify();
  });

  it("is refused if it changes too many top-level fields", async () => {
    await using scene = new Scene(cart());
    const { session } = await scene.connect<string, Cart>();
    const update = session.update((draft) => {
      for (let index = 0; index < 1_000; index += 1) draft[`k${index}`] = index;
    });
    await expect(update).rejects.toMatchObject({
      name: "DataRefused",
      message: expect.stringContaining(
        "the recipe changes 1000 top-level fields or items; one post changes at most 999.",
      ),
    });
  });

  it("leads to what the recipe makes, for any data", async () => {
    await using scene = new Scene(cart());
    const { session } = await scene.connect<string, { [field: string]: unknown }>();
    const key = fc.constantFrom("a", "b/c", "d~e", "items");
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        fc.integer({ min: 0, max: 3 }),
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(key, tie("value"), { maxKeys: 3 }),
      ),
    })).value;
    await fc.assert(
      fc.asyncProperty(fc.dictionary(key, value, { maxKeys: 4 }), async (made) => {
        await session.update((draft) => {
          for (const field of Object.keys(draft)) delete draft[field];
          Object.assign(draft, made);
        });
        expect(session.current().data).toEqual(JSON.parse(JSON.stringify(made)));
      }),
      { numRuns: 40 },
    );
    await session.verify();
  });
});
