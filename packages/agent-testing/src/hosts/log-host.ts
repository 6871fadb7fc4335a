import {
  openSession,
  removeSession,
  type AgentInput,
  type AgentState,
  type Clock,
  type DurableSession,
} from "@moora/agent";
import type { EventLog, SessionLog } from "@moora/event-log";
import { withSessions, type LogStorage } from "@moora/event-log/testing";
import { conformanceAgent } from "./agent.ts";
import type { CommitDeath, ConformanceHost, HostSetup, PreparedHost, ProcessOptions } from "./host.ts";
import { onText, waitForState } from "./session-states.ts";
import { SkippingClock } from "./skipping-clock.ts";
import { never, ProcessWorld } from "./world.ts";

/**
 * Sessions in a log, as `openSession` opens them, for any log. `storageOf` creates the storage of one case, such as
 * `memoryLogStorage`.
 */
export const logHost = (
  name: string,
  storageOf: () => Pick<LogStorage, "open" | "dispose">,
): ConformanceHost => ({
  name,
  cannot: {},
  prepare: async (setup) => new LogSessions(setup, storageOf()),
});

class LogSessions implements PreparedHost {
  readonly clock: SkippingClock = new SkippingClock();
  readonly #setup: HostSetup;
  readonly #storage: Pick<LogStorage, "open" | "dispose">;
  #process: LogProcess | undefined;
  #lost: readonly LogProcess[] = [];

  constructor(setup: HostSetup, storage: Pick<LogStorage, "open" | "dispose">) {
    this.#setup = setup;
    this.#storage = storage;
  }

  async start(options: ProcessOptions = {}): Promise<void> {
    const log = await this.#storage.open();
    this.#process = new LogProcess({ ...options, log, clock: this.clock, world: this.#setup.world });
    await this.#process.continueAll();
  }

  async kill(): Promise<void> {
    this.#process?.end();
  }

  async takeOver(): Promise<void> {
    if (this.#process !== undefined) this.#lost = [...this.#lost, this.#process];
    await this.start();
  }

  async post(id: string, input: AgentInput, from?: "elsewhere"): Promise<boolean> {
    const session = await this.#running().session(id);
    if (from === undefined) return (await session.dispatch(input)).status === "accepted";
    const { world } = this.#setup;
    const log = await this.#storage.open();
    await using poster = await openSession(conformanceAgent(world), { log, id, access: "post" });
    return (await poster.dispatch(input)).status === "accepted";
  }

  async waitFor(id: string, isReached: (state: AgentState) => boolean): Promise<AgentState> {
    return await waitForState(await this.#running().session(id), isReached);
  }

  async remove(id: string): Promise<void> {
    await removeSession(await this.#storage.open(), id);
    this.#running().forget(id);
  }

  async watch(id: string, listener: (text: string) => void): Promise<() => void> {
    return onText(await this.#running().session(id), listener);
  }

  async log(): Promise<EventLog> {
    return await this.#storage.open();
  }

  async dispose(): Promise<void> {
    for (const process of [...this.#lost, this.#process]) await process?.close();
    await this.#storage.dispose();
  }

  #running(): LogProcess {
    if (this.#process === undefined) throw new Error("No process runs.");
    return this.#process;
  }
}

interface LogProcessOptions extends ProcessOptions {
  readonly log: EventLog;
  readonly clock: SkippingClock;
  readonly world: HostSetup["world"];
}

/** A process that runs sessions. After its end, its calls of the log never return, and its timers do not fire. */
class LogProcess {
  readonly #options: LogProcessOptions;
  readonly #world: ProcessWorld;
  readonly #log: EventLog;
  readonly #sessions = new Map<string, Promise<DurableSession>>();
  readonly #timers = new Set<() => void>();

  constructor(options: LogProcessOptions) {
    this.#options = options;
    this.#world = new ProcessWorld(options.world);
    this.#log = withSessions(options.log, (session) => this.#mortal(session));
  }

  end(): void {
    this.#world.end();
    for (const cancel of this.#timers) cancel();
  }

  async continueAll(): Promise<void> {
    for (const { id } of await this.#options.log.list()) await this.session(id);
  }

  session(id: string): Promise<DurableSession> {
    const found = this.#sessions.get(id) ?? this.#open(id);
    this.#sessions.set(id, found);
    return found;
  }

  /** Forgets a session that was removed: it has ended by itself. */
  forget(id: string): void {
    this.#sessions.delete(id);
  }

  async close(): Promise<void> {
    if (this.#world.isOver) return;
    for (const session of this.#sessions.values()) await (await session).close();
  }

  #open(id: string): Promise<DurableSession> {
    const { clock, release } = this.#options;
    return openSession(conformanceAgent(this.#world, release), {
      log: this.#log,
      id,
      clock: { now: () => clock.now(), after: (...timer) => this.#after(...timer) },
      isOwnerGone: () => true,
      onError: () => undefined,
    });
  }

  #after(...[ms, callback, options]: Parameters<Clock["after"]>): () => void {
    if (this.#world.isOver) return () => undefined;
    const fire = (): void => {
      this.#timers.delete(cancel);
      callback();
    };
    const cancel = this.#options.clock.after(ms, fire, options);
    this.#timers.add(cancel);
    return () => {
      this.#timers.delete(cancel);
      cancel();
    };
  }

  /** The methods of a session's log in this process, which may end at an append. */
  #mortal(session: SessionLog): Partial<SessionLog> {
    const alive =
      <Args extends readonly unknown[], Result>(use: (...args: Args) => Result) =>
      async (...args: Args): Promise<Awaited<Result>> => {
        if (this.#world.isOver) await never();
        return await use(...args);
      };
    return {
      append: alive(async (expectedSeq, records) => {
        const { death } = this.#options;
        const isDue = death !== undefined && contains(expectedSeq, records.length, death);
        if (isDue && death.when === "before") await this.#die();
        await session.append(expectedSeq, records);
        if (isDue) await this.#die();
      }),
      read: alive((afterSeq) => session.read(afterSeq)),
      lease: alive((claim) => session.lease(claim)),
      release: alive((owner) => session.release(owner)),
      saveSnapshot: alive((snapshot) => session.saveSnapshot(snapshot)),
    };
  }

  async #die(): Promise<void> {
    this.end();
    this.#options.onDeath?.();
    await never();
  }
}

/** Whether an append contains the record of a death. */
const contains = (expectedSeq: number, count: number, { seq }: CommitDeath): boolean =>
  seq > expectedSeq && seq <= expectedSeq + count;
