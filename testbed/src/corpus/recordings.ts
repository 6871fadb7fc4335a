import { memoryLog, MemoryStorage } from "@moora/event-log";
import { exportSession } from "@moora/agent";
import type { World } from "../durable/counting-tools.ts";
import { Counter } from "../durable/counter.ts";
import { Life, type Death } from "../durable/mortal-log.ts";
import { runProcess } from "../durable/processes.ts";
import { transcriptOf, transcripts } from "../durable/transcripts/index.ts";
import type { Transcript } from "../durable/transcripts/transcript.ts";
import { TestClock } from "../test-clock.ts";
import { withTransfer } from "./later-release.ts";

/** A recording of the corpus: a transcript, run by one process, or by one that dies and another one that resumes it. */
export interface Recording {
  /** The name of its files. */
  readonly name: string;
  readonly transcript: Transcript;
  readonly death?: Death;
  /** What the process runs that resumes: the same transcript with an agent of a later release. Default: the transcript. */
  readonly later?: Transcript;
}

const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");

const brokenOff = (name: string, seq: number, when: "before" | "after" = "after"): Recording => ({
  name: slugOf(`${name} broken off ${when} record ${seq}`),
  transcript: transcriptOf(name),
  death: { seq, when },
});

/** One that an agent of a later release resumes. */
const released = (name: string, seq: number): Recording => {
  const recording = brokenOff(name, seq);
  const { agent } = recording.transcript;
  const later = { ...recording.transcript, agent: (world: World) => withTransfer(agent(world)) };
  return { ...recording, name: `${recording.name}-and-resumed-by-a-later-release`, later };
};

/** All recordings of the corpus. */
export const recordings: readonly Recording[] = [
  ...transcripts.map((transcript) => ({ name: slugOf(transcript.name), transcript })),
  brokenOff("an answer", 3),
  brokenOff("one keyed call", 5),
  brokenOff("one keyed call", 6, "before"),
  brokenOff("one call that runs once", 5),
  brokenOff("a call that runs once, and a human settles", 5),
  brokenOff("a call that can be probed", 5),
  brokenOff("eight parallel calls", 15),
  brokenOff("an approval", 4),
  brokenOff("a reflection", 10),
  brokenOff("a stream that breaks off", 4),
  brokenOff("a state of its own", 7),
  released("one keyed call", 5),
  released("an approval", 4),
];

/**
 * Runs it on a log in memory, with ids that count up and a clock that only the decisions of reviewers move: the same text each
 * time.
 */
export async function recordedText({ transcript, death, later = transcript }: Recording): Promise<string> {
  using counter = new Counter();
  const storage = new MemoryStorage();
  const clock = new TestClock();
  let ids = 0;
  const newId = (prefix: string): string => `${prefix}_${(ids += 1)}`;
  const live = async (life: Life, played: Transcript): Promise<void> => {
    const scene = { log: memoryLog(storage), id: "recorded", counter, clock };
    const options = { owner: "host", newId, snapshots: false };
    const { session } = await runProcess(scene, played, life, options);
    if (!life.isOver) await session?.close();
  };
  if (death !== undefined) await live(new Life(death), transcript);
  await live(new Life(), later);
  return await exportSession(memoryLog(storage), "recorded");
}
