import type { SessionLog } from "../../port.ts";
import { bodies, appendBodies } from "../chain-of.ts";
import { check, checkEqual } from "../expectations.ts";
import type { LogCase } from "../log-storage.ts";
import { logCase } from "../scene.ts";
import { nextTurn } from "../next-turn.ts";

/** A listener that reads the head whenever it is called. */
class Listener {
  readonly stop: () => void;
  #calls = 0;
  readonly #session: SessionLog;
  readonly #reads: Promise<void>[] = [];
  #waiting: { readonly seq: number; readonly resolve: () => void }[] = [];

  constructor(session: SessionLog) {
    this.#session = session;
    this.stop = session.watch(() => {
      this.#calls += 1;
      // A session that was removed, or whose log is closed, has no head.
      this.#reads.push(this.#readHead().catch(() => undefined));
    });
  }

  get calls(): number {
    return this.#calls;
  }

  /** Resolves when a call has found a record with this number. */
  async sees(seq: number): Promise<void> {
    await new Promise<void>((resolve) => this.#waiting.push({ seq, resolve }));
  }

  /** Stops the listener, and waits for its reads. */
  async end(): Promise<void> {
    this.stop();
    await Promise.allSettled(this.#reads);
  }

  async #readHead(): Promise<void> {
    const head = await this.#session.head();
    this.#waiting = this.#waiting.filter(({ seq, resolve }) => {
      if (seq <= head) resolve();
      return seq > head;
    });
  }
}

/** Resolves after this many turns of the event loop, in which reports of earlier appends may arrive. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}

/** A watch may need time to start: appends until the listener is called, and then expects a call for one more append. */
async function checkReported(listener: Listener, writer: SessionLog): Promise<void> {
  const waiting = { isDone: false };
  const first = listener.sees(1).then(() => (waiting.isDone = true));
  while (!waiting.isDone) {
    await appendBodies(writer, "{}");
    await Promise.race([first, nextTurn()]);
  }
  const single = listener.sees((await writer.head()) + 1);
  await appendBodies(writer, "{}");
  await single;
}

export const watchingCases: readonly LogCase[] = [
  logCase("a watch does not report the appends of its own handle", async (scene) => {
    const session = await scene.create();
    const listener = new Listener(session);
    // The watch has started, and has seen the last append of the other handle.
    await checkReported(listener, await scene.open());
    await appendBodies(session, "{}");
    await turns(20);
    const { calls } = listener;
    for (let round = 0; round < 20; round += 1) {
      await appendBodies(session, "{}");
      await turns(2);
    }
    // A look at the head that began before an append may cause a spurious call.
    check(listener.calls - calls < 10, "the listener is not called for 20 appends of its own handle");
    await checkReported(listener, await scene.open());
    await listener.end();
  }),
  logCase("a watch reports an append by another handle", async (scene) => {
    const listener = new Listener(await scene.create());
    await checkReported(listener, await scene.open());
    await listener.end();
  }),
  logCase("a watch reports an append by another process", async (scene) => {
    const listener = new Listener(await scene.create());
    await checkReported(listener, await scene.openElsewhere());
    await listener.end();
  }),
  logCase("a watch reports the removal", async (scene) => {
    const session = await scene.create();
    const listener = new Listener(session);
    await checkReported(listener, await scene.open());
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = session.watch(resolve);
    await scene.log.remove("a");
    await promise;
    stop();
    await listener.end();
  }),
  logCase("stopping a watch keeps the others, also for other processes", async (scene) => {
    const session = await scene.create();
    const elsewhere = await scene.openElsewhere();
    const [stopped, active] = [new Listener(session), new Listener(session)];
    await checkReported(active, await scene.open());
    await stopped.end();
    stopped.stop();
    const { calls } = stopped;
    await checkReported(active, elsewhere);
    checkEqual(stopped.calls, calls, "the number of calls of the stopped listener");
    await active.end();
  }),
  logCase("a watch never calls its listener during the append", async (scene) => {
    const session = await scene.create();
    const writer = await scene.open();
    const appending = { isRunning: false, wasCalled: false };
    const stop = session.watch(() => (appending.wasCalled ||= appending.isRunning));
    const append = writer.append.bind(writer);
    writer.append = (...args) => {
      appending.isRunning = true;
      const result = append(...args);
      appending.isRunning = false;
      return result;
    };
    const listener = new Listener(session);
    await checkReported(listener, writer);
    check(!appending.wasCalled, "no listener is called while append is on the stack");
    stop();
    await listener.end();
  }),
  logCase("closing the log ends its watches", async (scene) => {
    await scene.create();
    const log = await scene.storage.open();
    const ended = new Listener(await scene.open("a", log));
    await log.close();
    const { calls } = ended;
    const listener = new Listener(await scene.open());
    await checkReported(listener, await scene.open());
    checkEqual(ended.calls, calls, "the number of calls after closing");
    await ended.end();
    await listener.end();
  }),
  logCase("watches do not affect appends", async (scene) => {
    const session = await scene.create();
    const stops = Array.from({ length: 10 }, () => session.watch(() => undefined));
    const records = await appendBodies(session, ...bodies(20));
    checkEqual(await session.read(), records, "the records");
    for (const stop of stops) stop();
  }),
];
