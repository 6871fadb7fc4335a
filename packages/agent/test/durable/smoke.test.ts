import { describe, expect, it } from "vitest";
import { openSession, stateAt, verifySession } from "../../src/index.ts";
import { Counter } from "./world/counter.ts";
import { driveToEnd } from "./world/drive.ts";
import { Life } from "./world/mortal-log.ts";
import { problemsAfter } from "./world/outcome.ts";
import { storageOf, storeNames } from "./world/places.ts";
import { transcripts } from "./world/transcripts.ts";
import { VirtualClock } from "./world/virtual-clock.ts";

describe.each(storeNames)("on %s", (store) => {
  it.each(transcripts)("$name", async (transcript) => {
    await using storage = storageOf(store);
    const log = storage.open();
    const counter = new Counter();
    const clock = new VirtualClock();
    const session = await openSession(transcript.agent({ counter, life: new Life() }), { log, id: "ada", clock });
    await driveToEnd(session, transcript, clock);
    const { streaming: _, ...state } = session.current();
    console.log(transcript.name, state.reActContext.control, session.info().seq, counter.runs.map(r => r.key+r.tool).join());
    expect(await verifySession(log, "ada")).toMatchObject({ ok: true, seq: session.info().seq });
    expect((await stateAt(log, "ada")).state).toEqual(state);
    expect(problemsAfter(state)).toEqual([]);
    await session.close();
    expect(clock.timers).toBe(0);
  });
});
