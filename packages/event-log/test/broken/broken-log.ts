import type { LogRecord, SessionLog } from "../../src/port.ts";
import { withSessions } from "../../src/with-sessions.ts";
import { continueChain, headOf } from "../../src/testing/chain-of.ts";
import type { LogStorage } from "../../src/testing/log-storage.ts";
import { memoryLogStorage } from "../../src/testing/memory-storage.ts";

/** A log with one fault, and the name of the conformance case that fails because of it. */
export interface BrokenLog {
  readonly name: string;
  readonly failingCase: string;
  readonly storage: () => LogStorage;
}

/** A log whose handles have other methods. */
export const brokenSession = (
  name: string,
  failingCase: string,
  alter: (session: SessionLog) => Partial<SessionLog>,
): BrokenLog => ({
  name,
  failingCase,
  storage: () => memoryLogStorage((log) => withSessions(log, alter)),
});

/** A log that alters records before it appends them. */
export const brokenAppend = (
  name: string,
  failingCase: string,
  alter: (records: readonly LogRecord[]) => readonly Pick<LogRecord, "body" | "changesDigest">[],
): BrokenLog =>
  brokenSession(name, failingCase, (session) => ({
    append: async (expectedSeq, records) =>
      session.append(expectedSeq, continueChain(await headOf(session), alter(records))),
  }));

/** A log that alters records after it read them. */
export const brokenRead = (
  name: string,
  failingCase: string,
  alter: (records: readonly LogRecord[]) => readonly LogRecord[],
): BrokenLog =>
  brokenSession(name, failingCase, (session) => ({
    read: async (after, limit) => alter(await session.read(after, limit)),
  }));
