import { memoryLog, MemoryStorage } from "@moora/event-log";
import { answers, hangs } from "@moora/llm/testing";
import { TestClock, untilPasses } from "@moora/testbed/test-clock";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  add,
  anything,
  changeData,
  dataOf,
  drawnData,
  push,
  stateEvents,
  working,
  type Draft,
} from "./ag-ui-data.ts";
import { AgUiScene, say } from "@moora/testbed/server/ag-ui-scene";
import { agentOf } from "@moora/testbed/server/agent-of";

describe("the state of a client of AG-UI", () => {
  it("is the whole data at the beginning, and nothing more if nothing changes", async () => {
    await using scene = new AgUiScene(agentOf([answers("Yes.")], { data: anything() }));
    const client = scene.client();
    await say(client, "Hi");
    expect(client.state).toEqual({ items: ["tea"] });
    expect(stateEvents(scene)).toEqual([{ items: ["tea"] }]);
    expect(scene.failures).toEqual([]);
  });

  it("follows a tool with deltas, also in the middle of its call", async () => {
    const half = Promise.withResolvers<void>();
    const agent = working(async (_, { update }) => {
      await update.now(push("half"));
      await half.promise;
      update(push("whole"));
      return "worked";
    });
    await using scene = new AgUiScene(agent);
    const client = scene.client();
    const run = say(client, "Work");
    await untilPasses(() => expect(client.state).toEqual({ items: ["tea", "half"] }));
    expect(scene.types).not.toContain("TOOL_CALL_RESULT");
    half.resolve();
    await run;
    expect(stateEvents(scene)).toEqual([
      { items: ["tea"] },
      add("/items/1", "half"),
      add("/items/2", "whole"),
    ]);
    expect(client.state).toEqual({ items: ["tea", "half", "whole"] });
    expect(scene.failures).toEqual([]);
  });

  it("follows others who change the data during the run", async () => {
    await using scene = new AgUiScene(agentOf([hangs("Once upon a time")], { data: anything() }));
    const client = scene.client();
    const run = say(client, "A story");
    await untilPasses(() => expect(scene.types).toContain("TEXT_MESSAGE_CONTENT"));
    await changeData(scene, add("/items/-", "rice"));
    await untilPasses(() => expect(client.state).toEqual({ items: ["tea", "rice"] }));
    const [id = ""] = await scene.sessionIds();
    await scene.scene.as("ada").post(`/sessions/${encodeURIComponent(id)}/cancel`);
    await run;
    expect(stateEvents(scene)).toEqual([{ items: ["tea"] }, add("/items/1", "rice")]);
    expect(scene.failures).toEqual([]);
  });

  it("is sent as a whole where clients refuse the path of a delta, and where the delta is longer", async () => {
    const refused = working(
      (_, { update }) => {
        update((draft) => Object.assign(draft["constructor"] as object, { prototype: 1 }));
        return "worked";
      },
      { data: anything({ items: ["tea"], constructor: {} }) },
    );
    await using scene = new AgUiScene(refused);
    const client = scene.client();
    await say(client, "Work");
    expect(client.state).toEqual({ items: ["tea"], constructor: { prototype: 1 } });
    const long = working((_, { update }) => {
      update((draft) => {
        for (let index = 0; index < 60; index += 1) draft[`field ${index}`] = index;
      });
      return "worked";
    });
    await using other = new AgUiScene(long);
    await say(other.client(), "Work");
    expect(stateEvents(other)[1]).toHaveProperty(["field 59"], 59);
    expect([...scene.failures, ...other.failures]).toEqual([]);
  });

  it("is sent as a whole when the server takes the session over and converts the data", async () => {
    const storage = new MemoryStorage();
    const clock = new TestClock();
    const older = anything();
    const newer = anything(
      { list: ["tea"] },
      { version: 2, migrate: (stored) => ({ list: (stored as Draft).items }) },
    );
    await using first = new AgUiScene(agentOf([hangs("Once")], { data: older }), {
      log: memoryLog(storage),
      clock,
    });
    const running = say(first.client(), "A story").catch(() => undefined);
    await untilPasses(() => expect(first.types).toContain("TEXT_MESSAGE_CONTENT"));
    await using second = new AgUiScene(
      agentOf(() => answers("The end."), { data: newer }),
      {
        log: memoryLog(storage),
        clock,
      },
    );
    const client = second.client();
    const run = say(client, "And then?", "message-2");
    await untilPasses(() => expect(second.types).toContain("STATE_SNAPSHOT"));
    expect(client.state).toEqual({ items: ["tea"] });
    await first.scene.server.close();
    await running;
    await clock.advanceAsync(1_000);
    await run;
    expect(client.state).toEqual({ list: ["tea"] });
    expect(stateEvents(second)).toEqual([{ items: ["tea"] }, { list: ["tea"] }]);
  });

  it("equals the data byte for byte, whatever is changed", async () => {
    await fc.assert(
      fc.asyncProperty(
        drawnData,
        fc.array(drawnData, { minLength: 1, maxLength: 6 }),
        async (initial, versions) => {
          const agent = working(
            async (_, { update }) => {
              for (const version of versions) {
                await update.now((draft) => {
                  for (const name of Object.keys(draft))
                    if (!Object.hasOwn(version, name)) delete draft[name];
                  Object.assign(draft, structuredClone(version));
                });
              }
              return "worked";
            },
            { data: anything(initial) },
          );
          await using scene = new AgUiScene(agent);
          const client = scene.client();
          await say(client, "Work");
          expect(JSON.stringify(client.state)).toBe(JSON.stringify(await dataOf(scene)));
          expect(scene.failures).toEqual([]);
        },
      ),
      { numRuns: 40 },
    );
  });
});
