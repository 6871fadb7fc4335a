import type { EventLog } from "@moora/event-log";
import { describe, expect, it } from "vitest";
import { Counter } from "@moora/testbed/durable/counter";
import { isProof } from "@moora/testbed/sample";
import { Life, type Death } from "@moora/testbed/durable/mortal-log";
import { storageOf, storeNames } from "@moora/testbed/durable/places";
import { runProcess } from "@moora/testbed/durable/processes";
import { lossesOf, takenUp, type Lived } from "@moora/testbed/durable/taken-up";
import { everyday, long, transcripts } from "@moora/testbed/durable/transcripts/index";
import type { Transcript } from "@moora/testbed/durable/transcripts/transcript";
import { TestClock } from "@moora/testbed/test-clock";

/** Of long ones, the crash matrix takes samples. */
const short = transcripts.filter((transcript) => !long.includes(transcript));
const chosen = isProof ? short : everyday;

describe.each(storeNames)("(C01, C02, C03) a process on %s that dies at any instant", (store) => {
  it.each(chosen)("of $name: it is taken up, and nothing is lost or doubled", async (transcript) => {
    await using storage = storageOf(store);
    const whole = await lived(storage.open(), "whole", transcript);
    for (const death of deathsUpTo(whole.seq)) {
      const at = `dies ${death.when} record ${death.seq}`;
      const ran = await lived(storage.open(), at, transcript, death);
      expect(lossesOf(ran, whole, transcript), at).toEqual([]);
    }
  });
});

type DeathAtRecord = Extract<Death, { readonly seq: number }>;

const deathsUpTo = (seq: number): readonly DeathAtRecord[] =>
  Array.from({ length: seq }, (_, index) =>
    (["before", "after"] as const).map((when): DeathAtRecord => ({ seq: index + 1, when })),
  ).flat();

/** A transcript that is run to its end by one process, or by one that dies and one that takes it up. */
async function lived(log: EventLog, id: string, transcript: Transcript, death?: Death): Promise<Lived> {
  using counter = new Counter();
  const scene = { log, id, counter, clock: new TestClock() };
  if (death !== undefined) await runProcess(scene, transcript, new Life(death));
  return await takenUp(scene, transcript);
}
