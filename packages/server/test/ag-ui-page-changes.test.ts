import { EventType, type HttpAgent } from "@ag-ui/client";
import { askHuman } from "@moora/agent";
import { answers, callsTools } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anything, becomes, changeData, dataOf, posts, refusalOf, refused, run } from "./ag-ui-data.ts";
import { AgUiScene, say } from "@moora/testbed/server/ag-ui-scene";
import { agentOf } from "@moora/testbed/server/agent-of";
import { byName } from "@moora/testbed/server/scene";
import { toolOf } from "./support.ts";

type Fields = Readonly<Record<string, unknown>>;

/** How the model ends a run. */
type End = "whole" | "empty" | "failed";

/** A server whose model ends each run as `end` says, after `during`. */
class PageScene extends AgUiScene {
  end: End;
  during: () => Promise<void>;

  constructor(initial: Fields, data = anything(initial)) {
    super(agentOf(() => this.#answer(), { data }));
    this.end = "whole";
    this.during = async () => undefined;
  }

  async #answer() {
    const { during, end } = this;
    this.during = async () => undefined;
    await during();
    if (end === "failed") throw new Error("The model is down.");
    return answers(end === "empty" ? "" : "Yes.");
  }

  /** Others set fields of the data. */
  async set(fields: Fields): Promise<void> {
    const patches = Object.entries(fields).map(([name, value]) => ({ op: "add", path: `/${name}`, value }));
    await changeData(this, patches, "ada");
  }

  /** How the last run has ended: `RUN_FINISHED`, or the code or the message of its error. */
  get last(): string {
    const { type, code, message } = this.events.at(-1) as unknown as Record<
      "type" | "code" | "message",
      string
    >;
    return type === "RUN_ERROR" ? (code ?? message) : type;
  }
}

/** Waits for the end of the loop, which a stopped page does not see. */
async function ended(scene: PageScene): Promise<void> {
  const [id = ""] = await scene.sessionIds();
  const control = async (): Promise<string> => (await scene.stateOf(id)).reActContext.control.type;
  await expect.poll(control, { interval: 1 }).toMatch(/^(?:Done|Error)$/);
}

const edit = (client: HttpAgent, edits: Fields): void =>
  client.setState({ ...(client.state as Fields), ...edits });

const sendMessage = async (client: HttpAgent, content: string): Promise<void> => {
  client.addMessage({ id: `user_${client.messages.length}`, role: "user", content });
  await run(client);
};

const conflictAt = (path: string) => ({
  types: refused,
  code: "state-conflict",
  message: `The data was changed meanwhile at "${path}". Merge the changes, and run again.`,
});

describe("what a page changes", () => {
  it("is refused by name where others have made the same change after the run, and taken it back", async () => {
    await using scene = new PageScene({ done: false, n: 0 });
    const client = scene.client();
    await say(client, "Hi");
    await scene.set({ done: true });
    await scene.set({ done: false });
    edit(client, { done: true });
    await sendMessage(client, "More");
    expect(refusalOf(scene)).toEqual(conflictAt("/done"));
    // The page has the data now.
    edit(client, { done: true });
    await run(client, { forwardedProps: { "moora.base-state": { done: false, n: 0 } } });
    expect(await dataOf(scene)).toEqual({ done: true, n: 0 });
  });

  it("is recorded if its run is repeated after a failure, and each time that it is changed", async () => {
    await using scene = new PageScene({ x: 1, y: 1 });
    const client = scene.client();
    scene.end = "failed";
    await sendMessage(client, "Hi");
    for (const y of [9, 8, 9]) {
      edit(client, { y });
      await run(client);
      expect(scene.last).toContain("The model is down.");
      expect(client.state).toEqual({ x: 1, y });
      // The same run again changes nothing.
      await run(client);
    }
    const changes = [9, 8, 9].map((value) => ["ada", { op: "replace", path: "/y", value }]);
    expect(await posts(scene)).toEqual(["Hi", ...changes]);
  });

  it.each<[string, boolean, Fields]>([
    [
      "is merged where the page has not changed what was in the whole run that was stopped",
      false,
      { x: 3, y: 9 },
    ],
    ["is refused where others have changed the data in the run that was stopped", true, { x: 4, y: 1 }],
  ])("%s", async (_, isDoubtful, expected) => {
    await using scene = new PageScene({ x: 1, y: 1 });
    const client = scene.client();
    await say(client, "Hi");
    await scene.set({ x: 2 });
    scene.during = async () => {
      await untilPasses(() => expect(client.state).toEqual({ x: 2, y: 1 }));
      client.abortRun();
      if (isDoubtful) await scene.set({ x: 3 });
    };
    await sendMessage(client, "More");
    await ended(scene);
    await scene.set({ x: isDoubtful ? 4 : 3 });
    edit(client, { y: 9 });
    await sendMessage(client, "Again");
    if (isDoubtful) expect(refusalOf(scene)).toEqual(conflictAt("/x"));
    else expect(scene.last).toBe("RUN_FINISHED");
    expect(await dataOf(scene)).toEqual(expected);
    expect(client.state).toEqual(expected);
  });

  it("is refused where it sets back to what it was shown in the stopped run before", async () => {
    await using scene = new PageScene({ x: 1, y: 1 });
    const client = scene.client();
    await say(client, "Hi");
    for (const x of [2, 3]) {
      await scene.set({ x });
      scene.during = async () => {
        await untilPasses(() => expect(client.state).toEqual({ x, y: 1 }));
        client.abortRun();
      };
      await sendMessage(client, "More");
      await ended(scene);
    }
    expect(client.state).toEqual({ x: 3, y: 1 });
    // It has been shown in an earlier run, which may be all that the page has seen.
    edit(client, { x: 2, y: 9 });
    await sendMessage(client, "Again");
    expect(refusalOf(scene)).toEqual(conflictAt("/x"));
    expect(await dataOf(scene)).toEqual({ x: 3, y: 1 });
  });

  it("is recorded if the run was left before its first text, and is repeated", async () => {
    await using scene = new PageScene({ x: 1, y: 1 });
    const left = scene.client();
    const isCalled = Promise.withResolvers<void>();
    const writes = Promise.withResolvers<void>();
    scene.during = async () => {
      isCalled.resolve();
      await writes.promise;
    };
    const leaving = say(left, "Hi").catch(() => undefined);
    await isCalled.promise;
    await expect.poll(() => scene.types).toContain(EventType.STATE_SNAPSHOT);
    left.abortRun();
    await leaving;
    writes.resolve();
    const client = scene.client();
    client.setMessages(left.messages);
    client.setState({ x: 1, y: 9 });
    await run(client);
    expect(scene.last).toBe("RUN_FINISHED");
    expect(await dataOf(scene)).toEqual({ x: 1, y: 9 });
  });

  it("is not recorded with a message whose text was edited", async () => {
    await using scene = new PageScene({ x: 1 });
    await say(scene.client(), "Hi", "message-1");
    const client = scene.client();
    client.setState({ x: 3 });
    client.addMessage({ id: "message-1", role: "user", content: "Ho" });
    await expect(client.runAgent()).rejects.toThrow("422");
    expect(await dataOf(scene)).toEqual({ x: 1 });
  });

  it("is refused where it is set back, also if others have made its other change", async () => {
    await using scene = new PageScene({ x: 1, y: 1 });
    const client = scene.client();
    scene.during = () => scene.set({ x: 2, y: 2 });
    await say(client, "Hi");
    await scene.set({ x: 3 });
    edit(client, { x: 3, y: 1 });
    await sendMessage(client, "More");
    expect(refusalOf(scene)).toEqual(conflictAt("/y"));
  });

  it.each<[End]>([["failed"], ["empty"]])(
    "is refused where it is set back after a run that was %s",
    async (end) => {
      await using scene = new PageScene({ n: 0 });
      const client = scene.client();
      await say(client, "Hi");
      scene.during = () => scene.set({ n: 5 });
      scene.end = end;
      await sendMessage(client, "More");
      expect(client.state).toEqual({ n: 5 });
      edit(client, { n: 0 });
      scene.end = "whole";
      await sendMessage(client, "Again");
      expect(refusalOf(scene)).toEqual(conflictAt("/n"));
      await run(client);
      expect(scene.last).toBe("RUN_FINISHED");
      expect(await dataOf(scene)).toEqual({ n: 5 });
    },
  );

  it("is not refused for what others have changed in the run and again after it", async () => {
    await using scene = new PageScene({ x: 1, y: 1 });
    const client = scene.client();
    scene.during = () => scene.set({ x: 2 });
    await say(client, "Hi");
    await scene.set({ x: 3 });
    edit(client, { y: 5 });
    await sendMessage(client, "More");
    expect(scene.last).toBe("RUN_FINISHED");
    expect(await dataOf(scene)).toEqual({ x: 3, y: 5 });
  });

  it("may be the last key of the data, if the page names its base", async () => {
    await using scene = new PageScene({ x: 1, y: 1 });
    const client = scene.client();
    await say(client, "Hi");
    const base = client.state as Fields;
    client.setState({});
    client.addMessage({ id: "message-2", role: "user", content: "More" });
    await run(client, { forwardedProps: { "moora.base-state": base } });
    expect(scene.last).toBe("RUN_FINISHED");
    expect(await dataOf(scene)).toEqual({});
  });

  it.each(["x", 1, true])(
    "is refused if the page names a base that is neither an object nor an array: %j",
    async (base) => {
      await using scene = new PageScene({ x: 1 });
      const client = scene.client();
      await say(client, "Hi");
      client.setState({ x: 2 });
      client.addMessage({ id: "message-2", role: "user", content: "More" });
      await run(client, { forwardedProps: { "moora.base-state": base } });
      expect(refusalOf(scene)).toEqual({
        types: refused,
        code: "state-refused",
        message: "The moora.base-state must be an object or an array.",
      });
      expect(await posts(scene)).toEqual(["Hi"]);
    },
  );

  it.each([
    { why: "does not fit", size: "XL", may: () => true, status: "422" },
    { why: "is forbidden", size: "M", may: (action: string) => action !== "decide", status: "403" },
  ])("is not recorded, nor an answer taken, if an answer of its run $why", async ({ size, may, status }) => {
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

  it("is recorded with each answer to the same question, also if it was made before and taken back", async () => {
    const ask = { name: "ask_human", arguments: { question: "Which size?" } };
    const script = [callsTools([ask]), answers("Done.")];
    const agent = agentOf(script, { data: anything({ x: 1 }), tools: [askHuman()] });
    await using scene = new AgUiScene(agent);
    const client = scene.client();
    await say(client, "Buy");
    const interruptId = scene.interrupts[0]?.id ?? "";
    const resume = [{ interruptId, status: "resolved", payload: { answer: "M" } } as const];
    // The first one is answered, the others repeat its answer with another state.
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

  it("is recorded or refused by name, and nothing else is, whatever happens in and between its runs", async () => {
    const fields = fc.dictionary(fc.constantFrom("x", "y", "z"), fc.nat({ max: 2 }), {
      noNullPrototype: true,
    });
    const changes = fc.array(fields, { maxLength: 2 });
    const step = fc.record({
      between: changes,
      edits: fields,
      during: changes,
      end: fc.constantFrom<End>("whole", "empty", "failed"),
      // After so many changes the page is stopped; the run is not.
      stop: fc.option(fc.nat({ max: 2 })),
      isAgain: fc.boolean(),
    });
    const outcomes = new Set<string>();
    const stops = new Set<boolean>();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 5 }), async (steps) => {
        const initial = { x: 0, y: 0, z: 0 };
        await using scene = new PageScene(initial);
        const client = scene.client();
        client.setState(initial);
        let data: Fields = initial;
        /** The last state that was recorded for the newest message, with its base. */
        let recorded: unknown;
        /** What the page has been shown by a run that is not in the log. */
        let base: Fields | undefined;
        const set = async (given: Fields): Promise<void> => {
          await becomes(scene, data, { ...data, ...given });
          data = { ...data, ...given };
        };
        /** The data in the runs from the newest answer of the model on, with what the page has changed since. */
        let versions: Fields[] = [initial];
        let wasStopped = false;
        /** The places that others have changed in the last run, if it was stopped. */
        let doubtful: readonly string[] = [];
        for (const { between, edits, during, end, stop, isAgain } of steps) {
          if (client.messages.length > 0) for (const change of between) await set(change);
          const seen = client.state as Fields;
          edit(client, edits);
          const posted = client.state as Fields;
          const changed = Object.keys(edits).filter((name) => edits[name] !== seen[name]);
          const mine = Object.fromEntries(changed.map((name) => [name, posted[name]]));
          const shown: Fields[] = [];
          // A run without a message looks as if the page had it whole.
          scene.end = stop === null ? end : "whole";
          let count = scene.events.length;
          let isStopped = false;
          let isTaken = false;
          /** Checks what was recorded before the model is called: a place that was set back after a stop may stay. */
          const take = async (): Promise<void> => {
            isTaken = true;
            const actual = (await dataOf(scene)) as Fields;
            for (const name of changed) {
              const isSetBack = wasStopped && versions.some((version) => version[name] === posted[name]);
              if (isSetBack && actual[name] === before[name]) data = { ...data, [name]: actual[name] };
            }
            expect(actual).toEqual(data);
            // What was recorded is a change of the page.
            const own = changed
              .filter((name) => before[name] !== data[name])
              .map((name) => [name, data[name]]);
            versions = versions.map((version) => ({ ...version, ...Object.fromEntries(own) }));
          };
          scene.during = async () => {
            if (!isTaken) await take();
            for (let index = 0; index <= during.length; index += 1) {
              shown.push(data);
              if (index === stop) {
                await untilPasses(() => {
                  expect(scene.types.slice(count)).toContain(EventType.STATE_SNAPSHOT);
                  expect(client.state).toEqual(data);
                });
                client.abortRun();
                isStopped = true;
              }
              const change = during[index];
              if (change !== undefined) await set(change);
            }
          };
          const mayRepeat = client.messages.at(-1)?.role === "user";
          if (!isAgain || !mayRepeat) {
            client.addMessage({ id: `user_${client.messages.length}`, role: "user", content: "Go" });
            recorded = undefined;
          }
          const before = data;
          const isRepeated =
            recorded !== undefined && JSON.stringify(recorded) === JSON.stringify([posted, base]);
          // The edits are recorded before the model is called.
          data = { ...data, ...mine };
          if (isRepeated) data = before;
          await run(client, base === undefined ? {} : { forwardedProps: { "moora.base-state": base } });
          outcomes.add(scene.last);
          if (scene.last === "state-conflict") {
            expect(changed).not.toEqual([]);
            data = before;
            const { message } = refusalOf(scene);
            for (const [, path = ""] of message.matchAll(/"\/(\w)"/g))
              expect([...changed, ...doubtful]).toContain(path);
            isTaken = true;
            // The page takes the data.
            count = scene.events.length;
            await run(client);
            expect(scene.last).not.toBe("state-conflict");
          } else if (changed.length > 0) recorded = [posted, base];
          await ended(scene);
          if (!isTaken) await take();
          expect(await dataOf(scene)).toEqual(data);
          stops.add(isStopped);
          const hasAnswer = !isStopped && scene.end === "whole" && shown.length > 0;
          versions = hasAnswer ? shown : [...versions, ...shown, data];
          wasStopped = isStopped;
          const namesOf = (version: Fields): readonly string[] =>
            Object.keys(version).filter((name) => version[name] !== shown[0]?.[name]);
          doubtful = isStopped ? shown.flatMap(namesOf) : [];
          base = !isStopped && isAgain && mayRepeat ? (client.state as Fields) : undefined;
          if (!isStopped) expect(client.state).toEqual(data);
        }
      }),
      { numRuns: 60 },
    );
    expect(outcomes).toContain("RUN_FINISHED");
    expect(outcomes).toContain("state-conflict");
    expect(stops).toContain(true);
  });
});
