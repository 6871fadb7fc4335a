import { isProof } from "@moora/testbed/sample";
import { memoryLog, type EventLog } from "@moora/event-log";
import { describe, expect, it } from "vitest";
import { moveSession, readSession } from "../../src/index.ts";
import { readableIn, unlessRefused, World } from "./family-world.ts";
import { Interrupted, interrupted, Pause, paused, type Writes } from "./interruptions.ts";

/** Longer than a mover holds a session that it does not renew. */
const pauseMs = 31_000;

/** A move from the log to the archive that pauses before one of its requests. */
class PausedMove {
  readonly world: World;
  readonly third: EventLog = memoryLog();
  readonly #pause: Pause;
  readonly #writes: Writes = { left: Infinity };
  #end: Promise<void> | undefined;

  constructor(at: number, world = new World()) {
    this.world = world;
    this.#pause = new Pause(at);
  }

  get logs(): readonly EventLog[] {
    return [this.world.log, this.world.archive, this.third];
  }

  /** Begins a session and its move. Returns whether the move pauses; otherwise it has ended. */
  async begin(ms = pauseMs): Promise<boolean> {
    await this.world.begin();
    const { log, archive, clock } = this.world;
    const [from, to] = [log, archive].map((each) => paused(interrupted(each, this.#writes), this.#pause));
    if (from === undefined || to === undefined) throw new Error("A log is missing.");
    this.#end = endOf(moveSession(from, "ada", to, { clock }));
    const isPaused = await doesPause(this.#pause, this.#end);
    this.world.clock.advance(ms);
    return isPaused;
  }

  /** Resumes the move, whose process ends after some more writes. Returns whether it could make them all. */
  async resume(left = Infinity): Promise<boolean> {
    this.#writes.left = left;
    this.#pause.resume();
    await this.#end;
    this.world.clock.advance(pauseMs);
    return this.#writes.left > 0;
  }

  async move(from: EventLog, to: EventLog): Promise<void> {
    await unlessRefused(moveSession(from, "ada", to, { clock: this.world.clock }));
    this.world.clock.advance(pauseMs);
  }
}

/** Whether a move pauses; otherwise it has ended. */
const doesPause = async (pause: Pause, end: Promise<unknown>): Promise<boolean> =>
  await Promise.race([pause.reached.then(() => true), end.then(() => false)]);

/** Waits for the end of a move. Any error must be one of a move that is refused or of a process that has ended. */
async function endOf(move: Promise<unknown>): Promise<void> {
  try {
    await unlessRefused(move);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
  }
}

type Meanwhile = (move: PausedMove) => Promise<void>;

const there: Meanwhile = (move) => move.move(move.world.log, move.world.archive);
const back: Meanwhile = (move) => move.move(move.world.archive, move.world.log);
const elsewhere: Meanwhile = (move) => move.move(move.world.log, move.third);

/** Runs the session of a log, if it has one that is open. */
async function runIn(world: World, log: EventLog): Promise<void> {
  if ((await readableIn(world, [log])).length > 0) await unlessRefused(world.finish(log));
}

/** What happens while a mover pauses. */
const meanwhile = {
  "the same move": [there],
  "the same move and a move back": [there, back],
  "the same move twice and a move back": [there, back, there],
  "a move to a third log": [elsewhere],
  "the same move and a run": [there, ({ world }) => world.finish(world.archive)],
  "a run": [({ world }) => runIn(world, world.log)],
} satisfies Readonly<Record<string, readonly Meanwhile[]>>;

/** Checks that one log at most has an open session, and that a repetition with the same logs opens one where there is none. */
async function checkOutcome(move: PausedMove, moment: string): Promise<void> {
  const { world, logs } = move;
  expect((await readableIn(world, logs)).length, moment).toBeLessThanOrEqual(1);
  for (const repeat of [there, back, elsewhere])
    if ((await readableIn(world, logs)).length === 0) await repeat(move);
  const [open, ...others] = await readableIn(world, logs);
  expect(others, moment).toEqual([]);
  if (open === undefined) throw new Error(`No log has an open session ${moment}.`);
  await world.finish(open);
  expect(world.begun, moment).toEqual(["mail", "pay"]);
  for (const { id } of await open.list()) expect((await readSession(open, id)).records).not.toEqual([]);
}

const ofFamilies = ["the same move", "the same move twice and a move back", "a run"] as const;

describe.each(ofFamilies)("a move of a family that pauses before any request during %s", (name) => {
  it("leaves one open session, in one log", async () => {
    let pauses = 0;
    for (let at = 1; ; at += isProof ? 1 : 3) {
      const move = new PausedMove(at);
      if (!(await move.begin())) break;
      for (const step of meanwhile[name]) await step(move);
      const moment = `after a pause before request ${at}`;
      expect((await readableIn(move.world, move.logs)).length, moment).toBeLessThanOrEqual(1);
      await move.resume();
      await checkOutcome(move, moment);
      pauses += 1;
    }
    expect(pauses).toBeGreaterThan(isProof ? 50 : 16);
  });
});

describe("a move that pauses before any request, and whose process ends after any further write", () => {
  it.each(Object.entries(meanwhile))(
    "leaves one open session, or one that a repetition opens, after %s",
    async (_, steps) => {
      let ends = 0;
      for (let at = 1, isPaused = true; isPaused; at += 1) {
        for (let left = 0, isComplete = false; isPaused && !isComplete; left += isProof ? 1 : 3) {
          const move = new PausedMove(at, new World({ isAlone: true }));
          isPaused = await move.begin();
          if (!isPaused) break;
          for (const step of steps) await step(move);
          isComplete = await move.resume(left);
          await checkOutcome(move, `after a pause before request ${at} and ${left} writes`);
          ends += 1;
        }
      }
      expect(ends).toBeGreaterThan(20);
    },
  );
});

/** The errors of moves in one direction that pause before one of their requests until the move from the log to the archive has ended. */
async function errorsDuring(direction: "there" | "back", at: number): Promise<readonly unknown[]> {
  const errors: unknown[] = [];
  for (let first = 1; ; first += 1) {
    const move = new PausedMove(first, new World({ isAlone: true }));
    if (!(await move.begin(0))) return errors;
    const { log, archive, clock } = move.world;
    const pause = new Pause(at);
    const [from, to] = direction === "there" ? [log, archive] : [archive, log];
    const second = moveSession(paused(from, pause), "ada", to, { clock }).catch((error: unknown) => {
      errors.push(error);
    });
    await doesPause(pause, second);
    await move.resume();
    pause.resume();
    await second;
    await checkOutcome(move, `after a pause before request ${first}`);
  }
}

const reported = /^(?:MoveUnfinished|SessionBusy|SessionUnknown)$/;

describe("a move of a session that another process moves", () => {
  it.each(["there", "back"] as const)("does not advise to remove it: %s", async (direction) => {
    const errors: unknown[] = [];
    for (let at = 1; at <= 8; at += 1) errors.push(...(await errorsDuring(direction, at)));
    expect(errors.length).toBeGreaterThan(8);
    for (const error of errors) {
      expect(error).toMatchObject({
        code: expect.stringMatching(reported),
        message: expect.not.stringMatching(/remove/i),
      });
    }
  });
});
