import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentInput } from "@moora/agent-core-state-machine";
import type { EventLog } from "@moora/event-log";
import { readSession } from "@moora/agent";
import { Counter } from "@moora/testbed/durable/counter";
import { lossesOf, takenUp, type Lived } from "@moora/testbed/durable/taken-up";
import type { Transcript } from "@moora/testbed/durable/transcripts/transcript";
import { TestClock } from "@moora/testbed/test-clock";
import type { Case } from "./cases.ts";
import type { Orders } from "./child.ts";
import type { Lane } from "./lane.ts";
import { counterFile, openStore, type Place } from "./stores.ts";

/** What is known of a store before there is a folder. */
export type Ground = Pick<Place, "store" | "url">;

/** Memory where there is a place for it: what is killed is a process, and no machine. */
const shelter = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** A folder of its own in which one session lives and dies. */
class CaseFolder implements AsyncDisposable {
  readonly path: string = mkdtempSync(join(shelter, "moora-crash-"));
  readonly place: Place;
  #log: EventLog | undefined;

  constructor({ store, url }: Ground) {
    this.place = { store, url, folder: this.path };
    mkdirSync(join(this.path, "sessions"));
  }

  async log(): Promise<EventLog> {
    return (this.#log ??= await openStore(this.place));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#log?.close();
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** A transcript that nothing broke off. */
export interface Unbroken {
  readonly lived: Lived;
  readonly inputs: readonly AgentInput[];
  /** How many tools ran. */
  readonly works: number;
}

export async function unbroken(ground: Ground, id: string, transcript: Transcript): Promise<Unbroken> {
  await using folder = new CaseFolder(ground);
  using counter = new Counter(counterFile(folder.path));
  const log = await folder.log();
  const lived = await takenUp({ log, id, counter, clock: new TestClock() }, transcript);
  const { inputs } = await readSession(log, id);
  return { lived, inputs, works: counter.runs.length };
}

/** The result of one death: whether the process really died, and what was lost. */
export interface Outcome {
  readonly killed: boolean;
  readonly losses: readonly string[];
}

/**
 * A process of its own runs a transcript and kills itself; then the session is taken up from what it left behind. Rejects
 * when the process ended in another way.
 */
export async function killed(
  ground: Ground,
  lane: Lane,
  id: string,
  transcript: Transcript,
  { death }: Case,
  { lived: whole }: Unbroken,
): Promise<Outcome> {
  await using folder = new CaseFolder(ground);
  const orders: Orders = { ...folder.place, transcript: transcript.name, id, death };
  const end = await lane.run(orders);
  using counter = new Counter(counterFile(folder.path));
  const ran = await takenUp({ log: await folder.log(), id, counter, clock: new TestClock() }, transcript);
  return { killed: end === "killed", losses: lossesOf(ran, whole, transcript) };
}

/** Lets one child live to its end, so that its compiled code is kept for all that are killed. */
export async function warmUp(ground: Ground, lane: Lane, transcript: Transcript): Promise<void> {
  await using folder = new CaseFolder(ground);
  await lane.run({ ...folder.place, transcript: transcript.name, id: "warm-up", death: { work: 0 } });
}
