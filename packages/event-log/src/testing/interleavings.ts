import type { SessionLog } from "../port.ts";
import { headOf, recordsAfter } from "./chain-of.ts";
import { check, checkEqual, checkRefused } from "./expectations.ts";
import type { LogStorage } from "./log-storage.ts";

/** Which of two writers takes each step. */
export type Interleaving = readonly ("one" | "other")[];

/** All orders in which two writers can take so many steps each: 924 for six and six. */
export function* interleavings(ones: number, others: number): Generator<Interleaving> {
  if (ones === 0 && others === 0) yield [];
  if (ones > 0) for (const rest of interleavings(ones - 1, others)) yield ["one", ...rest];
  if (others > 0) for (const rest of interleavings(ones, others - 1)) yield ["other", ...rest];
}

/** A writer looks where the log ends, then appends there: two steps for each record. */
class TwoStepWriter {
  readonly #name: string;
  readonly #session: SessionLog;
  #seen: number | undefined;
  #count = 0;

  constructor(name: string, session: SessionLog) {
    this.#name = name;
    this.#session = session;
  }

  /** Takes one step and compares the outcome with what the bodies in the log say it must be. */
  async step(log: string[]): Promise<void> {
    if (this.#seen === undefined) {
      this.#seen = await this.#session.head();
      return checkEqual(this.#seen, log.length, `the head that ${this.#name} sees`);
    }
    const body = JSON.stringify({ by: this.#name, count: (this.#count += 1) });
    const expectedSeq = this.#seen;
    this.#seen = undefined;
    if (expectedSeq < log.length) {
      await checkRefused("Conflict", `${this.#name} comes too late`, () =>
        this.#session.append(expectedSeq, recordsAfter({ seq: expectedSeq, digest: "" }, body)),
      );
      return;
    }
    await this.#session.append(expectedSeq, recordsAfter(await headOf(this.#session), body));
    log.push(body);
  }
}

/** Lets two handles, each of a process of its own, take their steps in this order. */
export async function checkInterleaving(storage: LogStorage, id: string, order: Interleaving): Promise<void> {
  const [first, second] = [await storage.open(), await storage.open()];
  const session = await first.create(id, "{}");
  const elsewhere = await second.open(id);
  check(elsewhere !== undefined, "the session can be opened elsewhere");
  const writers = { one: new TwoStepWriter("one", session), other: new TwoStepWriter("other", elsewhere) };
  const log: string[] = [];
  for (const writer of order) await writers[writer].step(log);
  for (const handle of [session, elsewhere]) {
    checkEqual(
      (await handle.read()).map(({ body }) => body),
      log,
      `the log after ${order.join(", ")}`,
    );
  }
  await first.close();
  await second.close();
}
