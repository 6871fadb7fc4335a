import { bodies, grow } from "../chain-of.ts";
import { check, checkEqual } from "../expectations.ts";
import type { LogCase } from "../log-storage.ts";
import type { SessionLog } from "../../port.ts";
import { logCase } from "../scene.ts";

/** A listener, and what resolves when it has been called. */
function listening(session: SessionLog): { called: Promise<void>; count: () => number; stop: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let count = 0;
  const stop = session.watch(() => {
    count += 1;
    resolve();
  });
  return { called: promise, count: () => count, stop };
}

/** A watch may take a moment to begin to work: appends until it has told of one. */
async function growUntil(session: SessionLog, called: Promise<void>): Promise<void> {
  const waiting = { isOver: false };
  const end = called.then(() => (waiting.isOver = true));
  while (!waiting.isOver) {
    await grow(session, "{}");
    await Promise.race([end, new Promise((resolve) => setImmediate(resolve))]);
  }
}

export const watchingCases: readonly LogCase[] = [
  logCase("a watch tells of an append by the same handle", async (scene) => {
    const session = await scene.create();
    const watch = listening(session);
    await growUntil(session, watch.called);
    watch.stop();
  }),
  logCase("a watch tells of an append by another handle", async (scene) => {
    const watch = listening(await scene.create());
    await growUntil(await scene.open(), watch.called);
    watch.stop();
  }),
  logCase("a watch tells of an append by another process", async (scene) => {
    const watch = listening(await scene.create());
    await growUntil(await scene.openElsewhere(), watch.called);
    watch.stop();
  }),
  logCase("a watch tells of the removal", async (scene) => {
    const session = await scene.create();
    const watch = listening(session);
    await growUntil(session, watch.called);
    const next = listening(session);
    await scene.log.remove("a");
    await next.called;
    watch.stop();
    next.stop();
  }),
  logCase("what a watch tells of can be read", async (scene) => {
    const session = await scene.create();
    const seen: Promise<number>[] = [];
    const watch = listening(session);
    const stop = session.watch(() => seen.push((async () => session.head())()));
    await growUntil(session, watch.called);
    check(
      (await Promise.all(seen)).every((head) => head > 0),
      "every head that was seen in a watch",
    );
    stop();
    watch.stop();
  }),
  logCase("a watch that was stopped tells nothing more; others go on", async (scene) => {
    const session = await scene.create();
    const [stopped, going] = [listening(session), listening(session)];
    await growUntil(session, going.called);
    stopped.stop();
    stopped.stop();
    const count = stopped.count();
    const next = listening(session);
    await growUntil(session, next.called);
    checkEqual(stopped.count(), count, "how often the stopped one was called");
    going.stop();
    next.stop();
  }),
  logCase("a watch never calls back inside the append that it tells of", async (scene) => {
    const session = await scene.create();
    const appending = { isUnderWay: false, wasSeen: false };
    const watch = listening(session);
    const stop = session.watch(() => (appending.wasSeen ||= appending.isUnderWay));
    const append = session.append.bind(session);
    session.append = (...args) => {
      appending.isUnderWay = true;
      const result = append(...args);
      appending.isUnderWay = false;
      return result;
    };
    await growUntil(session, watch.called);
    check(!appending.wasSeen, "no callback came while the call was on the stack");
    stop();
    watch.stop();
  }),
  logCase("closing the log ends its watches", async (scene) => {
    const log = await scene.storage.open();
    await scene.create();
    const ended = listening(await scene.open("a", log));
    await log.close();
    const count = ended.count();
    const watch = listening(await scene.open());
    await growUntil(await scene.open(), watch.called);
    checkEqual(ended.count(), count, "how often it was called after the end");
    watch.stop();
    ended.stop();
  }),
  logCase("a watch does not disturb what is appended", async (scene) => {
    const session = await scene.create();
    const watches = Array.from({ length: 10 }, () => listening(session));
    const records = await grow(session, ...bodies(20));
    checkEqual(await session.read(), records, "the records");
    for (const { stop } of watches) stop();
  }),
];
