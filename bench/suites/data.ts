/** What application data costs: a step of an agent that has some, and a change of a large value. */
import { defineAgent, defineData, startSession } from "@moora/agent";
import type { LlmCaller } from "@moora/llm";
import * as z from "zod";
import { compareLoops } from "../harness/loop-ways.ts";
import type { Row } from "../harness/row.ts";
import { alternating, timedWay } from "../harness/ways.ts";

const script = { turns: 100, calls: 1 };

/** A step of an agent whose tool changes data, beside one of an agent without. */
const step: Row = {
  name: "data/step",
  what: "step that changes application data, 100 steps",
  unit: "µs",
  prepare: (context) =>
    compareLoops(context, [
      { name: "with data", loop: "session with data", script, units: script.turns },
      { name: "without data", loop: "session", script, units: script.turns },
    ]),
};

const llm: LlmCaller = { name: "bench", call: () => Promise.reject(new Error("It is not called.")) };

const numbers = z.object({ items: z.array(z.number()) });

/** Changes one of so many items of a session's data. */
function changeOf(count: number, schema: Parameters<typeof defineData>[0]["schema"]): () => Promise<unknown> {
  const items = Array.from({ length: count }, (_, index) => index);
  const data = defineData({ schema, initial: { items } });
  const session = startSession(defineAgent({ name: "bench", llm, data }));
  let next = 0;
  return async () => {
    next = (next + 1) % count;
    const { status } = await session.update((draft) => {
      Reflect.get(Object(draft), "items")[next] += 1;
    });
    if (status !== "accepted") throw new Error("The change was ignored.");
  };
}

/** Where copies are kept, so that the compiler does not leave them out. */
const copies: unknown[] = [];

/** What no change of a list can avoid: the runtime copies the array, for the recipe, and again for the state. */
function copyOf(count: number): () => void {
  const items: readonly number[] = Object.freeze(Array.from({ length: count }, (_, index) => index));
  return () => {
    copies[0] = [...items];
    copies[1] = [...items];
  };
}

/** Data of many small objects by id: a change copies the small object, and the one that contains all ids of its part. */
function changeOfChunks(): () => Promise<unknown> {
  const names = Array.from({ length: 300 }, (_, index) => `k${index}`);
  const chunk = Object.fromEntries(names.map((name) => [name, 0]));
  const data = defineData({
    schema: z.record(z.string(), z.record(z.string(), z.number())),
    initial: Object.fromEntries(names.map((name) => [name, chunk])),
  });
  const session = startSession(defineAgent({ name: "bench", llm, data }));
  let next = 0;
  return async () => {
    next += 1;
    const { status } = await session.update((draft) => {
      const part = draft[names[next % 300] ?? ""] ?? {};
      const key = names[Math.floor(next / 300) % 300] ?? "";
      part[key] = (part[key] ?? 0) + 1;
    });
    if (status !== "accepted") throw new Error("The change was ignored.");
  };
}

/** A change of one of 99,999 items: data has 100,000 keys and items at most. */
const large: Row = {
  name: "data/large",
  what: "change of one item of 99,999",
  unit: "µs",
  prepare: () =>
    alternating(
      timedWay("99,999 items", 1, changeOf(99_999, numbers)),
      timedWay("99 items", 1, changeOf(99, numbers)),
      timedWay("without a schema of items", 1, changeOf(99_999, { type: "object" })),
      timedWay("two copies of the array", 1, copyOf(99_999)),
      timedWay("90,000 items in 300 objects", 1, changeOfChunks()),
    ),
};

export const rows: readonly Row[] = [step, large];
