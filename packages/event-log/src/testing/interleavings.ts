import type { SessionLog } from "../port.ts";
import { headOf, recordsAfter } from "./chain-of.ts";
import { check, checkEqual, checkRejected } from "./expectations.ts";
import type { LogStorage } from "./log-storage.ts";

/** The writer of each step, in order. */
export type Interleaving = readonly ("one" | "other")[];

/** Generates all interleavings of two writers with these numbers of steps: 924 for six and six. */
export function* interleavings(ones: number, others: number): Generator<Interleaving> {
  if (ones === 0 && others === 0) yield [];
  if (ones > 0) for (const rest of interleavings(ones - 1, others)) yield ["one", ...rest];
  if (others > 0) for (const rest of interleavings(ones, others - 1)) yield ["other", ...rest];
}

/** A writer that reads the head in one step and appends a record there in the next. */
class TwoStepWriter {
  readonly #name: string;
  readonly #session: SessionLog;
  #knownHead: number | undefined;
  #count = 0;

  constructor(name: string, session: SessionLog) {
    this.#name = name;
    this.#session = session;
  }

  /** Takes one step and checks its outcome against the bodies in the log. */
  async step(log: string[]): Promise<void> {
    if (this.#knownHead === undefined) {
      this.#knownHead = await this.#session.head();
      return checkEqual(this.#knownHead, log.length, `the head that ${this.#name} reads`);
    }
    const body = JSON.stringify({ by: this.#name, count: (this.#count += 1) });
    const expectedSeq = this.#knownHead;
    this.#knownHead = undefined;
    if (expectedSeq < log.length) {
      await checkRejected("Conflict", `the append of ${this.#name} at an old head`, () =>
        this.#session.append(expectedSeq, recordsAfter({ seq: expectedSeq, digest: "" }, body)),
      );
      return;
    }
    await this.#session.append(expectedSeq, recordsAfter(await headOf(this.#session), body));
    log.push(body);
  }
}

/** Runs the steps of two handles, as of two processes, in this order. Rejects if a step or the log at the end is wrong. */
export async function checkInterleaving(storage: LogStorage, id: string, order: Interleaving): Promise<void> {
  const [first, second] = [await storage.open(), await storage.open()];
  const session = await first.create(id, "{}");
  const otherHandle = await second.open(id);
  check(otherHandle !== undefined, "the session can be opened in another process");
  const writers = { one: new TwoStepWriter("one", session), other: new TwoStepWriter("other", otherHandle) };
  const log: string[] = [];
  for (const writer of order) await writers[writer].step(log);
  for (const handle of [session, otherHandle]) {
    checkEqual(
      (await handle.read()).map(({ body }) => body),
      log,
      `the log after ${order.join(", ")}`,
    );
  }
  await first.close();
  await second.close();
}
