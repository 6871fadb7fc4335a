import { describe, expect, it } from "vitest";
import { stateAt, verifySession } from "../../src/index.ts";
import { Counter } from "@moora/testbed/durable/counter";
import { Life } from "@moora/testbed/durable/mortal-log";
import { outcomeOf, problemsAfter } from "@moora/testbed/durable/outcome";
import { storageOf, type StoreName } from "@moora/testbed/durable/places";
import { runProcess } from "@moora/testbed/durable/processes";
import { transcriptOf } from "@moora/testbed/durable/transcripts/index";
import { TestClock } from "@moora/testbed/test-clock";

const names = [
  "two steps",
  "three parallel calls with two approvals",
  "a call that can be probed",
  "a model that has to be asked again",
];

const stores: readonly StoreName[] = ["memory", "sqlite"];

describe.each(stores)("(C05) a process on %s that dies while it takes up what a dead one left", (store) => {
  it.each(names)("at each of its calls of the log, in %s: a third one brings it to its end", async (name) => {
    await using storage = storageOf(store);
    const log = storage.open();
    const transcript = transcriptOf(name);
    using whole = new Counter();
    const scene = { log, id: "whole", counter: whole, clock: new TestClock() };
    await (await runProcess(scene, transcript)).session?.close();
    const expected = await stateAt(log, "whole");
    let deaths = 0;
    for (let seq = 3; seq <= expected.seq; seq += store === "memory" ? 1 : 3) {
      for (let call = 1, survived = false; !survived; call += 1) {
        const id = `${seq}/${call}`;
        using counter = new Counter();
        const again = { log, id, counter, clock: new TestClock() };
        await runProcess(again, transcript, new Life({ seq, when: "after" }));
        survived = !(await runProcess(again, transcript, new Life({ call }))).died;
        deaths += survived ? 0 : 1;
        await (await runProcess(again, transcript)).session?.close();
        const { state } = await stateAt(log, id);
        expect(outcomeOf(state), id).toEqual(outcomeOf(expected.state));
        expect(await verifySession(log, id), id).toMatchObject({ ok: true });
        expect(problemsAfter(state), id).toEqual([]);
        expect(counter.effects, id).toBe(whole.effects);
      }
    }
    expect(deaths).toBeGreaterThan(expected.seq);
  });
});
