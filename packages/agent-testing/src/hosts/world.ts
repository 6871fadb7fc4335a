/** A moment of the work of the model or of a tool of the suite's agent. */
export interface WorkMoment {
  /** The name of the tool, or "model". */
  readonly work: string;
  /**
   * `begin`: the work starts. `end`: it has had its effect, and its result is not reported yet. `aborted`: its signal ended it
   * before it had its effect. `undone`: its signal aborts after its effect, so that a tool that compensates undoes that.
   */
  readonly moment: "begin" | "end" | "aborted" | "undone";
  /** The idempotency key of the call. */
  readonly key: string;
}

/** The world outside the agent, in which its model and its tools leave traces. */
export interface HostWorld {
  /** Records a moment. Resolves when the work may continue: at once, unless the case holds it. */
  reach(moment: WorkMoment): Promise<void>;
}

const isAt = (at: At, { work, moment }: At): boolean => at.work === work && at.moment === moment;

type At = Pick<WorkMoment, "work" | "moment">;

/** `from`: the first time that counts, from 1. */
type Hold = At & { readonly from?: number };

interface Waiter {
  readonly at: At;
  readonly resolve: () => void;
}

/** The world of one case: it records the moments of all processes, and holds those that the case names. */
export class RecordedWorld implements HostWorld {
  readonly #moments: WorkMoment[] = [];
  #holds: readonly Hold[] = [];
  #held: readonly Waiter[] = [];
  #watchers: readonly (() => void)[] = [];

  reach(moment: WorkMoment): Promise<void> {
    this.#moments.push(moment);
    const watchers = this.#watchers;
    this.#watchers = [];
    for (const watcher of watchers) watcher();
    const time = this.momentsAt(moment).length;
    const isHeld = ({ from = 1, ...at }: Hold): boolean => isAt(at, moment) && time >= from;
    if (!this.#holds.some(isHeld)) return Promise.resolve();
    return new Promise((resolve) => {
      this.#held = [...this.#held, { at: moment, resolve }];
    });
  }

  /** Makes work wait at a moment, from now on and from its first or a later time. */
  hold(at: Hold): void {
    this.#holds = [...this.#holds, at];
  }

  /** Lets work continue that waits at a moment, and all that reaches it from now on. */
  release(at: At): void {
    this.#holds = this.#holds.filter((hold) => !isAt(hold, at));
    const released = this.#held.filter((waiter) => isAt(waiter.at, at));
    this.#held = this.#held.filter((waiter) => !released.includes(waiter));
    for (const { resolve } of released) resolve();
  }

  /** Lets all work continue. */
  releaseAll(): void {
    for (const hold of this.#holds) this.release(hold);
  }

  /** How often work has begun. */
  get begun(): number {
    return this.#moments.filter(({ moment }) => moment === "begin").length;
  }

  /** The moments of this kind so far, in order. */
  momentsAt(at: At): readonly WorkMoment[] {
    return this.#moments.filter((moment) => isAt(at, moment));
  }

  /** Resolves when this moment has come this number of times. */
  async reached(at: At, times: number): Promise<void> {
    while (this.momentsAt(at).length < times) await this.#next();
  }

  #next(): Promise<void> {
    return new Promise((resolve) => {
      this.#watchers = [...this.#watchers, resolve];
    });
  }
}

/** The world of one process of several in this one: after `end`, its work neither continues nor leaves traces. */
export class ProcessWorld implements HostWorld {
  readonly #world: HostWorld;
  #isOver = false;

  constructor(world: HostWorld) {
    this.#world = world;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  end(): void {
    this.#isOver = true;
  }

  async reach(moment: WorkMoment): Promise<void> {
    if (!this.#isOver) await this.#world.reach(moment);
    if (this.#isOver) await never();
  }
}

/** A promise that never settles, as nothing settles in a process that has ended. */
export const never = <Value = void>(): Promise<Value> => new Promise(() => undefined);
