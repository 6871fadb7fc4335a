import { memoryLog, type EventLog } from "@moora/event-log";
import fc from "fast-check";
import { expect, it } from "vitest";
import { moveSession, pruneSessions, removeSession } from "../../src/index.ts";
import { closedBy } from "../../src/durable/closed-copy.ts";
import { readableIn, unlessRefused, World } from "./family-world.ts";
import { Interrupted, interrupted, Pause, paused } from "./interruptions.ts";

type Place = 0 | 1 | 2;

type Step =
  /** A move that ends after some writes. With `pausedAt`, it pauses before that request, until it is resumed. */
  | {
      readonly type: "move";
      readonly from: Place;
      readonly to: Place;
      readonly left: number;
      readonly pausedAt?: number | undefined;
    }
  | { readonly type: "prune" | "remove"; readonly from: Place }
  /** `resume`: all moves that pause continue at once. */
  | { readonly type: "run" | "resume" };

/** Returns undefined for work that is refused, or interrupted. */
const unlessEnded = async <Value>(work: Promise<Value>): Promise<Value | undefined> =>
  await unlessRefused(
    work.catch((error: unknown) => {
      if (!(error instanceof Interrupted)) throw error;
      return undefined;
    }),
  );

/** Three logs between which a session with sub-agents is moved. */
class Logs {
  readonly world: World = new World();
  readonly logs: readonly EventLog[] = [this.world.log, this.world.archive, memoryLog()];
  isRemoved = false;
  /** The moves that pause. */
  readonly #paused = new Map<Pause, Promise<unknown>>();
  /** The pairs of logs between which moves have begun. */
  readonly #begun = new Set<string>();

  log(place: Place): EventLog {
    return this.logs[place] ?? this.world.log;
  }

  /** The logs in which the session can be opened. */
  async open(): Promise<readonly EventLog[]> {
    return await readableIn(this.world, this.logs);
  }

  async do(step: Step): Promise<void> {
    const { clock } = this.world;
    if (step.type === "move") await this.#move(step);
    else if (step.type === "prune") {
      const { pruned } = await pruneSessions(this.log(step.from), { before: 1e12, clock });
      this.isRemoved ||= pruned.includes("ada");
    } else if (step.type === "remove") await this.#remove(this.log(step.from));
    else if (step.type === "resume") await this.resume();
    else for (const log of await this.open()) await this.world.finish(log);
    clock.advance(60_000);
  }

  /** Resumes the moves that pause, and waits for their ends. */
  async resume(): Promise<void> {
    const moves = [...this.#paused];
    this.#paused.clear();
    for (const [pause] of moves) pause.resume();
    for (const [, move] of moves) await move;
  }

  /**
   * A move from a log without the session is the repetition of one that began there: its logs are the same.
   */
  async #move({ from, to, left, pausedAt }: Step & { readonly type: "move" }): Promise<void> {
    const logs = `${from} ${to}`;
    if ((await this.log(from).open("ada")) !== undefined) this.#begun.add(logs);
    if (!this.#begun.has(logs)) return;
    const writes = { left };
    const pause = new Pause(pausedAt ?? 0);
    const [source, target] = [from, to].map((place) => paused(interrupted(this.log(place), writes), pause));
    if (source === undefined || target === undefined) return;
    const { clock } = this.world;
    const move = unlessEnded(moveSession(source, "ada", target, { clock }));
    const isPaused = await Promise.race([pause.reached.then(() => true), move.then(() => false)]);
    if (isPaused) this.#paused.set(pause, move);
  }

  /** Removes a session that is not closed: a closed one is removed only where the other log is lost for good. */
  async #remove(log: EventLog): Promise<void> {
    if (closedBy(await (await log.open("ada"))?.currentLease()) !== undefined) return;
    const removed = await unlessEnded(removeSession(log, "ada"));
    this.isRemoved ||= removed?.includes("ada") === true;
  }

  /** Repeats each move. */
  async repair(): Promise<void> {
    for (const { from, to } of pairs) {
      if ((await this.open()).length > 0) return;
      await this.do({ type: "move", from, to, left: Infinity });
    }
  }
}

const places = [0, 1, 2] as const;
const pairs = places.flatMap((from) => places.filter((to) => to !== from).map((to) => ({ from, to })));

const move = fc
  .record({
    pair: fc.constantFrom(...pairs),
    left: fc.oneof(fc.constant(Infinity), fc.integer({ min: 0, max: 40 })),
  })
  .map(({ pair, ...rest }): Step => ({ type: "move", ...pair, ...rest }));

const run = fc.constant<Step>({ type: "run" });

const removal = fc.record({
  type: fc.constantFrom("prune" as const, "remove" as const),
  from: fc.constantFrom(...places),
});

const steps = fc.array(
  fc.oneof({ weight: 6, arbitrary: move }, { weight: 1, arbitrary: run }, { weight: 1, arbitrary: removal }),
  { minLength: 2, maxLength: 8 },
);

const pausedMove = fc
  .record({ pair: fc.constantFrom(...pairs), pausedAt: fc.integer({ min: 1, max: 110 }) })
  .map(({ pair, pausedAt }): Step => ({ type: "move", ...pair, left: Infinity, pausedAt }));

const stepsWithPauses = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: move },
    { weight: 4, arbitrary: pausedMove },
    { weight: 3, arbitrary: fc.constant<Step>({ type: "resume" }) },
    { weight: 1, arbitrary: run },
    { weight: 1, arbitrary: removal },
  ),
  { minLength: 3, maxLength: 8 },
);

/** Takes the steps, after each of which at most one log has a session that can be opened, and none one that was removed. */
async function check(sequence: readonly Step[]): Promise<void> {
  const logs = new Logs();
  await logs.world.begin();
  for (const step of sequence) {
    await logs.do(step);
    expect((await logs.open()).length).toBeLessThanOrEqual(logs.isRemoved ? 0 : 1);
  }
  await logs.resume();
  expect((await logs.open()).length).toBeLessThanOrEqual(logs.isRemoved ? 0 : 1);
  await logs.repair();
  const open = await logs.open();
  expect(open.length).toBe(logs.isRemoved ? 0 : 1);
  for (const log of open) await logs.world.finish(log);
  expect(logs.world.begun).toEqual(logs.isRemoved ? expect.arrayContaining(["mail"]) : ["mail", "pay"]);
  expect(logs.world.begun.filter((name) => name === "pay").length).toBeLessThanOrEqual(1);
}

it("runs a session in one log only, and each tool once, in every sequence of interrupted moves, and removals", async () => {
  await fc.assert(fc.asyncProperty(steps, check), { seed: 7, numRuns: 60 });
});

it("runs a session in one log only, and each tool once, in every sequence of moves that pause", async () => {
  await fc.assert(fc.asyncProperty(stepsWithPauses, check), { seed: 7, numRuns: 60 });
});
