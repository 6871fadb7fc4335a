import type { HttpAgent } from "@ag-ui/client";
import { answers, callsTools } from "@moora/llm/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anything, dataOf, posts, refusalOf, run } from "./ag-ui-data.ts";
import { AgUiScene } from "@moora/testbed/server/ag-ui-scene";
import { agentOf } from "@moora/testbed/server/agent-of";
import { shown, shownAnew } from "./ag-ui-shown.ts";
import { toolOf } from "./support.ts";

type Fields = Readonly<Record<string, unknown>>;

/** An agent that asks before each payment. It pays after each message, and says so. */
const payer = (initial: Fields) => {
  const pay = toolOf("pay", () => "paid", { approval: "always" });
  let isPaid = true;
  const script = () => {
    isPaid = !isPaid;
    return isPaid ? answers("Paid.") : callsTools([{ name: "pay" }]);
  };
  return agentOf(script, { data: anything(initial), tools: [pay] });
};

/** A window of a page: a client of the thread with messages of its own. */
class Window {
  readonly client: HttpAgent;
  readonly #scene: AgUiScene;
  readonly #name: string;
  /** The interrupts with which its last run has ended. */
  interrupts: readonly string[] = [];
  /** What it was shown by a run that left no record. */
  base: Fields | undefined;

  constructor(scene: AgUiScene, name: string) {
    this.#scene = scene;
    this.#name = name;
    this.client = scene.client();
  }

  edit(edits: Fields): void {
    this.client.setState({ ...(this.client.state as Fields), ...edits });
  }

  async say(): Promise<string> {
    const id = `${this.#name}_${this.client.messages.length}_${crypto.randomUUID()}`;
    this.client.addMessage({ id, role: "user", content: "Pay" });
    return await this.#run({});
  }

  async answer(approved = true): Promise<string> {
    const status = "resolved" as const;
    const resume = this.interrupts.map((interruptId) => ({ interruptId, status, payload: { approved } }));
    return await this.#run({ resume });
  }

  /** Continues without the interrupts that another window has answered. */
  async continue(): Promise<string> {
    this.client.pendingInterrupts = [];
    return await this.#run({});
  }

  /** Resolves to how the run has ended. */
  async #run(parameters: Parameters<typeof run>[1]): Promise<string> {
    const { base } = this;
    const props = base === undefined ? {} : { forwardedProps: { "moora.base-state": base } };
    await run(this.client, { ...parameters, ...props });
    const { type, code, outcome } = this.#scene.events.at(-1) as unknown as Record<
      "type" | "code",
      string
    > & {
      readonly outcome?: { readonly interrupts?: readonly { readonly id: string }[] };
    };
    if (type === "RUN_FINISHED") this.interrupts = outcome?.interrupts?.map(({ id }) => id) ?? [];
    return code ?? type;
  }
}

describe("two windows that show the same interrupt", () => {
  it.each<[string, boolean, Fields]>([
    ["the same answer", true, {}],
    ["another answer, which is refused", false, {}],
    ["another answer and a change, which are refused", false, { n: 1 }],
    ["a change of its own", true, { n: 1 }],
  ])("keep what the first one has changed, if the second one sends %s", async (_, approved, edits) => {
    const initial = { title: "old", n: 0, more: {} };
    await using scene = new AgUiScene(payer(initial));
    const [a, b] = [new Window(scene, "a"), new Window(scene, "b")];
    await a.say();
    await b.say();
    expect(b.interrupts).toEqual(a.interrupts);
    a.edit({ title: "new", more: { added: true } });
    expect(await a.answer()).toBe("RUN_FINISHED");
    b.edit(edits);
    expect(await b.answer(approved)).toBe(approved ? "RUN_FINISHED" : "already-decided");
    const recorded = approved ? edits : {};
    const expected = { ...initial, title: "new", more: { added: true }, ...recorded };
    expect(await dataOf(scene)).toEqual(expected);
    expect(b.client.state).toEqual(expected);
    const changes = (await posts(scene)).filter((post) => Array.isArray(post));
    expect(changes).toHaveLength(Object.keys(recorded).length === 0 ? 1 : 2);
    if (!approved) expect(await b.continue()).toBe("RUN_FINISHED");
    expect(await dataOf(scene)).toEqual(expected);
  });

  it("conflict where both have changed the same place", async () => {
    await using scene = new AgUiScene(payer({ title: "old" }));
    const [a, b] = [new Window(scene, "a"), new Window(scene, "b")];
    await a.say();
    await b.say();
    a.edit({ title: "of a" });
    await a.answer();
    b.edit({ title: "of b" });
    expect(await b.answer()).toBe("state-conflict");
    expect(refusalOf(scene).message).toContain('"/title"');
    expect(await dataOf(scene)).toEqual({ title: "of a" });
  });

  it("look like one that sends its answer again: a change of the same place conflicts, and one that it takes back stays", async () => {
    await using scene = new AgUiScene(payer({ x: 0, y: 0 }));
    const first = new Window(scene, "a");
    await first.say();
    // A page that has not received the answer to its run has the messages from before.
    const again = new Window(scene, "a");
    const before = [...first.client.messages];
    const { interrupts } = first;
    first.edit({ x: 1 });
    await first.answer();
    for (const { state, outcome, base, data } of [
      { state: { x: 2, y: 0 }, outcome: "state-conflict", data: { x: 1, y: 0 } },
      { state: { x: 1, y: 3 }, outcome: "RUN_FINISHED", data: { x: 1, y: 3 } },
      { state: { x: 0, y: 3 }, outcome: "RUN_FINISHED", data: { x: 1, y: 3 } },
      { state: { x: 0, y: 3 }, base: { x: 1, y: 3 }, outcome: "RUN_FINISHED", data: { x: 0, y: 3 } },
    ]) {
      Object.assign(again, { interrupts, base });
      again.client.setMessages(before);
      again.client.setState(state);
      expect(await again.answer()).toBe(outcome);
      expect(await dataOf(scene)).toEqual(data);
    }
  });

  it("record what each of them has changed, or refuse it by name, in whatever order they run", async () => {
    const fields = fc.dictionary(fc.constantFrom("x", "y", "z"), fc.nat({ max: 2 }), {
      noNullPrototype: true,
    });
    const step = fc.record({
      window: fc.nat({ max: 2 }),
      edits: fields,
      approved: fc.boolean(),
    });
    const outcomes = new Set<string>();
    let lateAnswers = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 8 }), async (steps) => {
        const initial = { x: 0, y: 0, z: 0 };
        await using scene = new AgUiScene(payer(initial));
        const windows = ["a", "b", "c"].map((name) => new Window(scene, name));
        let data: Fields = initial;
        let open: readonly string[] = [];
        // The last change that was posted with answers to the same interrupts.
        const answered = new Map<string, string>();
        for (const { window: index, edits, approved } of steps) {
          const window = windows[index];
          if (window === undefined) throw new Error("There are three windows.");
          const isNew = window.client.messages.length === 0;
          const seen: Fields = isNew ? initial : (window.client.state as Fields);
          if (isNew) window.client.setState(initial);
          window.edit(edits);
          // The client requires answers to its interrupts.
          const isAnswer = window.interrupts.length > 0;
          const questions = window.interrupts.join(" ");
          const post = JSON.stringify([approved, window.base ?? null, window.client.state]);
          // What another window has posted in the same words is not posted again.
          const isRepeated = isAnswer && answered.get(questions) === post;
          const edited = Object.keys(edits).filter((name) => edits[name] !== seen[name]);
          const changed = isRepeated ? [] : edited;
          const isLate = isAnswer && !window.interrupts.some((id) => open.includes(id));
          if (isLate) lateAnswers += 1;
          let outcome = isAnswer ? await window.answer(approved) : await window.say();
          outcomes.add(outcome);
          if (outcome === "state-conflict") {
            expect(changed).not.toEqual([]);
            expect(await dataOf(scene)).toEqual(data);
            for (const [, path = ""] of refusalOf(scene).message.matchAll(/"\/(\w)"/g))
              expect(changed).toContain(path);
            // The window takes the data.
            window.base = window.client.state as Fields;
            outcome = isAnswer ? await window.answer(approved) : await window.say();
          } else if (outcome === "already-decided") {
            expect(isLate).toBe(true);
            expect(await dataOf(scene)).toEqual(data);
            window.base = window.client.state as Fields;
            outcome = await window.continue();
          } else {
            const next = { ...data, ...Object.fromEntries(changed.map((name) => [name, edits[name]])) };
            if (isAnswer && JSON.stringify(next) !== JSON.stringify(data)) answered.set(questions, post);
            data = next;
          }
          expect(outcome).toBe("RUN_FINISHED");
          expect(await dataOf(scene)).toEqual(data);
          expect(window.client.state).toEqual(data);
          open = window.interrupts;
          // It lacks nothing of what another window has caused.
          if (isLate) expect(shown(window.client)).toEqual(await shownAnew(scene));
          // The messages do not show a run that has posted no answer.
          window.base = isLate ? (window.client.state as Fields) : undefined;
        }
      }),
      { numRuns: 60 },
    );
    expect(outcomes).toEqual(new Set(["RUN_FINISHED", "state-conflict", "already-decided"]));
    expect(lateAnswers).toBeGreaterThan(0);
  });
});
