import type { SessionLog } from "../../port.ts";
import { bodies, grow } from "../chain-of.ts";
import { check, checkEqual } from "../expectations.ts";
import type { LogCase } from "../log-storage.ts";
import { logCase } from "../scene.ts";

/** A listener that looks where the log ends whenever it is called. */
class Listener {
  readonly stop: () => void;
  #calls = 0;
  readonly #session: SessionLog;
  readonly #looks: Promise<void>[] = [];
  #waiting: { readonly seq: number; readonly resolve: () => void }[] = [];

  constructor(session: SessionLog) {
    this.#session = session;
    this.stop = session.watch(() => {
      this.#calls += 1;
      this.#looks.push(this.#look());
    });
  }

  get calls(): number {
    return this.#calls;
  }

  /** When a call has found a record with this number. */
  async told(seq: number): Promise<void> {
    await new Promise<void>((resolve) => this.#waiting.push({ seq, resolve }));
  }

  /** When it has been stopped and has finished looking. */
  async end(): Promise<void> {
    this.stop();
    await Promise.allSettled(this.#looks);
  }

  async #look(): Promise<void> {
    const head = await this.#session.head();
    this.#waiting = this.#waiting.filter(({ seq, resolve }) => {
      if (seq <= head) resolve();
      return seq > head;
    });
  }
}

/** A watch may take a moment to begin to work: appends until it tells of one, and then it must tell of a single one. */
async function checkTold(listener: Listener, writer: SessionLog): Promise<void> {
  const waiting = { isOver: false };
  const first = listener.told(1).then(() => (waiting.isOver = true));
  while (!waiting.isOver) {
    await grow(writer, "{}");
    await Promise.race([first, new Promise((resolve) => setImmediate(resolve))]);
  }
  const single = listener.told((await writer.head()) + 1);
  await grow(writer, "{}");
  await single;
}

export const watchingCases: readonly LogCase[] = [
  logCase("a watch tells of an append by the same handle", async (scene) => {
    const session = await scene.create();
    const listener = new Listener(session);
    await checkTold(listener, session);
    await listener.end();
  }),
  logCase("a watch tells of an append by another handle", async (scene) => {
    const listener = new Listener(await scene.create());
    await checkTold(listener, await scene.open());
    await listener.end();
  }),
  logCase("a watch tells of an append by another process", async (scene) => {
    const listener = new Listener(await scene.create());
    await checkTold(listener, await scene.openElsewhere());
    await listener.end();
  }),
  logCase("a watch tells of the removal", async (scene) => {
    const session = await scene.create();
    const listener = new Listener(session);
    await checkTold(listener, session);
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = session.watch(resolve);
    await scene.log.remove("a");
    await promise;
    stop();
    await listener.end();
  }),
  logCase(
    "a watch that was stopped tells nothing more; others go on, also for other processes",
    async (scene) => {
      const session = await scene.create();
      const elsewhere = await scene.openElsewhere();
      const [stopped, going] = [new Listener(session), new Listener(session)];
      await checkTold(going, session);
      await stopped.end();
      stopped.stop();
      const { calls } = stopped;
      await checkTold(going, elsewhere);
      checkEqual(stopped.calls, calls, "how often the stopped one was called");
      await going.end();
    },
  ),
  logCase("a watch never calls back inside the append that it tells of", async (scene) => {
    const session = await scene.create();
    const appending = { isUnderWay: false, wasSeen: false };
    const stop = session.watch(() => (appending.wasSeen ||= appending.isUnderWay));
    const append = session.append.bind(session);
    session.append = (...args) => {
      appending.isUnderWay = true;
      const result = append(...args);
      appending.isUnderWay = false;
      return result;
    };
    const listener = new Listener(session);
    await checkTold(listener, session);
    check(!appending.wasSeen, "no callback came while the call was on the stack");
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
    await checkTold(listener, await scene.open());
    checkEqual(ended.calls, calls, "how often it was called after the end");
    await ended.end();
    await listener.end();
  }),
  logCase("a watch does not disturb what is appended", async (scene) => {
    const session = await scene.create();
    const stops = Array.from({ length: 10 }, () => session.watch(() => undefined));
    const records = await grow(session, ...bodies(20));
    checkEqual(await session.read(), records, "the records");
    for (const stop of stops) stop();
  }),
];
