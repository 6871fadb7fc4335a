import type { HttpAgent } from "@ag-ui/client";
import { canonicalJson } from "@moora/agent";
import { answers, callsTools } from "@moora/llm/testing";
import { AgUiScene, say } from "@moora/testbed/server/ag-ui-scene";
import { untilPasses } from "@moora/testbed/test-clock";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  anything,
  becomes,
  dataOf,
  drawnData,
  edit,
  PageScene,
  refusalOf,
  run,
  working,
  type Fields,
} from "./ag-ui-data.ts";

const isSame = (one: unknown, other: unknown): boolean =>
  (one === undefined) === (other === undefined) && canonicalJson(one) === canonicalJson(other);

const own = (fields: object, name: string): unknown =>
  Object.hasOwn(fields, name) ? (fields as Fields)[name] : undefined;

describe("the state that a page posts", () => {
  it("has every change of the page and of others, or none of the page, whatever they are", async () => {
    const outcomes = new Set<unknown>();
    await fc.assert(
      fc.asyncProperty(drawnData, drawnData, drawnData, async (made, others, posted) => {
        const replace = (draft: Record<string, unknown>): void => {
          for (const name of Object.keys(draft)) delete draft[name];
          Object.assign(draft, made);
        };
        const script = [callsTools([{ name: "work" }]), answers("Done."), answers("Yes.")];
        await using scene = new AgUiScene(
          working((_, { update }) => (update(replace), "worked"), { script, data: anything({}) }),
        );
        const client = scene.client();
        await say(client, "Hi");
        await becomes(scene, made, others);
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
        for (const name of Object.keys({ ...made, ...others, ...posted })) {
          const [before, theirs, mine] = [own(made, name), own(others, name), own(posted, name)];
          const found = own(data, name);
          if (isSame(before, mine)) expect(isSame(found, theirs)).toBe(true);
          else if (isSame(before, theirs)) expect(isSame(found, mine)).toBe(true);
        }
      }),
      { numRuns: 60 },
    );
    expect(outcomes).toEqual(new Set(["RUN_FINISHED", "state-conflict"]));
  });

  it("reverts nothing that others have written, and is recorded where it was edited, whatever happens to its runs", async () => {
    const fields = fc.dictionary(fc.constantFrom("x", "y", "z"), fc.nat({ max: 2 }), {
      noNullPrototype: true,
    });
    const changes = fc.array(fields, { maxLength: 2 });
    const step = fc.record({
      page: fc.nat({ max: 1 }),
      between: changes,
      edits: fields,
      isNamed: fc.boolean(),
      isAgain: fc.boolean(),
      during: changes,
      end: fc.constantFrom("whole" as const, "failed" as const, "stopped" as const, "lost" as const),
    });
    const seenEnds = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 6 }), async (steps) => {
        const initial: Fields = { x: 0, y: 0, z: 0 };
        await using scene = new PageScene(initial);
        const pages = [scene.client(), scene.client()];
        for (const page of pages) page.setState(initial);
        /** The states as the last event of the server has left them. */
        const shown: Fields[] = [initial, initial];
        /** The fields that the pages have changed since then. */
        const pending: (readonly string[])[] = [[], []];
        /** Each value that a field has had. */
        const history = new Map(Object.keys(initial).map((name) => [name, new Set<unknown>([0])]));
        const dataNow = async (): Promise<Fields> => (await dataOf(scene).catch(() => initial)) as Fields;
        for (const { page: index, between, edits, isNamed, isAgain, during, end } of steps) {
          const client = pages[index] as HttpAgent;
          const isBegun = (await scene.sessionIds()).length > 0;
          if (isBegun) for (const change of between) await scene.set(change);
          const before = isBegun ? await dataNow() : initial;
          for (const [name, values] of history) values.add(before[name]);
          const base = shown[index] ?? initial;
          const state = client.state as Fields;
          const changed = Object.keys(edits).filter((name) => edits[name] !== state[name]);
          const edited = [...(pending[index] ?? []), ...changed];
          edit(client, edits);
          const posted = client.state as Fields;
          if (!isAgain || client.messages.at(-1)?.role !== "user")
            client.addMessage({ id: crypto.randomUUID(), role: "user", content: "Go" });
          /** Checks what the run has changed, before anything else does. */
          let after: Fields | undefined;
          scene.during = async () => {
            after = await dataNow();
            for (const change of during) await scene.set(change);
            if (end !== "stopped") return;
            const now = await dataNow();
            await untilPasses(() => expect(client.state).toEqual(now));
            client.abortRun();
          };
          scene.fails = end === "failed";
          const forwardedProps = isNamed ? { "moora.base-state": base } : {};
          if (end === "lost") await lost(scene, client, forwardedProps);
          else await run(client, { forwardedProps });
          if (end !== "lost") shown[index] = client.state as Fields;
          pending[index] = end === "lost" ? edited : [];
          await ended(scene);
          after ??= await dataNow();
          for (const [name, values] of history) values.add(after[name]);
          const isRefused = end !== "lost" && scene.last === "state-conflict";
          seenEnds.add(isRefused ? "refused" : end);
          for (const name of Object.keys(initial)) {
            const found = after[name];
            // What has changed is an edit of this page.
            if (found !== before[name])
              expect([found, edited]).toEqual([posted[name], expect.arrayContaining([name])]);
            if (isRefused) expect(found).toBe(before[name]);
            else if (found !== posted[name] && changed.includes(name) && end !== "lost") {
              // It was set back to what it was before the newest message, or to the base.
              expect(isNamed ? [base[name]] : [...(history.get(name) ?? [])]).toContain(posted[name]);
            }
          }
          if (isRefused && isNamed) {
            for (const [, path = ""] of refusalOf(scene).message.matchAll(/"\/(\w)"/g))
              expect(edited).toContain(path);
          }
          for (const [name, values] of history) values.add((await dataNow())[name]);
        }
      }),
      { numRuns: 60 },
    );
    expect(seenEnds).toEqual(new Set(["whole", "failed", "stopped", "lost", "refused"]));
  });
});

/** Sends a run whose response is lost. */
async function lost(scene: AgUiScene, client: HttpAgent, forwardedProps: object): Promise<void> {
  const { threadId, messages, state } = client;
  const input = {
    threadId,
    runId: crypto.randomUUID(),
    messages,
    state,
    tools: [],
    context: [],
    forwardedProps,
  };
  await scene.scene
    .as("ada")
    .send("/agents/helper/ag-ui", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify(input),
    })
    .then((response) => response.text());
}

/** Waits for the end of the loop, which a stopped page does not see. */
async function ended(scene: AgUiScene): Promise<void> {
  const [id = ""] = await scene.sessionIds();
  const control = async (): Promise<string> => (await scene.stateOf(id)).reActContext.control.type;
  await expect.poll(control, { interval: 1 }).toMatch(/^(?:Done|Error)$/);
}
