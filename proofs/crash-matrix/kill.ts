import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import type { AgentInput } from "@moora/agent-core-state-machine";
import type { EventLog } from "@moora/event-log";
import { readSession } from "../../packages/agent/src/time-travel/read-session.ts";
import { Counter } from "../../packages/agent/test/durable/world/counter.ts";
import { lossesOf, takenUp, type Lived } from "../../packages/agent/test/durable/world/taken-up.ts";
import type { Transcript } from "../../packages/agent/test/durable/world/transcripts/transcript.ts";
import { VirtualClock } from "../../packages/agent/test/durable/world/virtual-clock.ts";
import type { Case } from "./cases.ts";
import type { Orders } from "./child.ts";
import { counterFile, openStore, type Place } from "./stores.ts";

/** Where children are started from, and what they are told of the store. */
export interface Ground extends Pick<Place, "store" | "url"> {
  /** A folder with the bundled child, and its compiled code. */
  readonly bundle: string;
}

/** A folder of its own in which one session lives and dies. */
class Room implements AsyncDisposable {
  readonly folder: string = mkdtempSync(join(tmpdir(), "moora-crash-"));
  readonly place: Place;
  #log: EventLog | undefined;

  constructor({ store, url }: Ground) {
    this.place = { store, url, folder: this.folder };
    mkdirSync(join(this.folder, "sessions"));
  }

  async log(): Promise<EventLog> {
    return (this.#log ??= await openStore(this.place));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#log?.close();
    rmSync(this.folder, { recursive: true, force: true });
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
  await using room = new Room(ground);
  using counter = new Counter(counterFile(room.folder));
  const log = await room.log();
  const lived = await takenUp({ log, id, counter, clock: new VirtualClock() }, transcript);
  const { inputs } = await readSession(log, id);
  return { lived, inputs, works: counter.runs.length };
}

/** What came of one death: whether the process really died, and what was lost. */
export interface Outcome {
  readonly killed: boolean;
  readonly losses: readonly string[];
}

/** A process of its own runs a transcript and kills itself; then the session is taken up from what it left behind. */
export async function killed(
  ground: Ground,
  id: string,
  transcript: Transcript,
  { death }: Case,
  { lived: whole }: Unbroken,
): Promise<Outcome> {
  await using room = new Room(ground);
  const orders: Orders = { ...room.place, transcript: transcript.name, id, death };
  const { signal, code, words } = await childOf(ground, orders);
  if (signal !== "SIGKILL" && code !== 0)
    return { killed: false, losses: [`The process ended by itself: ${words}`] };
  using counter = new Counter(counterFile(room.folder));
  await turn();
  const ran = await takenUp({ log: await room.log(), id, counter, clock: new VirtualClock() }, transcript);
  return { killed: signal === "SIGKILL", losses: lossesOf(ran, whole, transcript) };
}

/** Nothing that a child does takes as long as this. */
const timeoutMs = 60_000;

async function childOf(
  { bundle }: Pick<Ground, "bundle">,
  orders: Orders,
): Promise<{ readonly signal: string | null; readonly code: number | null; readonly words: string }> {
  const child = spawn(process.execPath, [join(bundle, "child.mjs"), JSON.stringify(orders)], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, NODE_COMPILE_CACHE: join(bundle, "compiled") },
    timeout: timeoutMs,
    killSignal: "SIGTERM",
  });
  let words = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (words += text));
  await once(child, "close");
  return { signal: child.signalCode, code: child.exitCode, words: words.slice(0, 2_000) };
}

/** Lets one child live to its end, so that its compiled code is kept for all that are killed. */
export async function warmUp(ground: Ground, transcript: Transcript): Promise<void> {
  await using room = new Room(ground);
  await childOf(ground, { ...room.place, transcript: transcript.name, id: "warm-up", death: { work: 0 } });
}
