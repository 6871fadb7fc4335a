import type { EventLog, MaybePromise, SessionLog } from "@moora/event-log";

/** A call of a log on its way there, or its answer on its way back. */
export interface Passage {
  readonly call: "append" | "read" | "lease" | "release" | "snapshot" | "saveSnapshot" | "open" | "create";
  readonly way: "there" | "back";
}

/** A log as it is behind a network: every call takes its way there and back, and `pass` says when it gets through. */
export function remoteLog(log: EventLog, pass: (passage: Passage) => Promise<void>): EventLog {
  const far =
    <Args extends readonly unknown[], Result>(
      call: Passage["call"],
      use: (...args: Args) => MaybePromise<Result>,
    ) =>
    async (...args: Args): Promise<Result> => {
      await pass({ call, way: "there" });
      const answer = settled(use, args);
      await pass({ call, way: "back" });
      return answer();
    };
  const handle = (session: SessionLog): SessionLog => ({
    id: session.id,
    header: session.header,
    append: far("append", (expectedSeq, records) => session.append(expectedSeq, records)),
    read: far("read", (afterSeq?: number) => session.read(afterSeq)),
    head: () => session.head(),
    lease: far("lease", (claim) => session.lease(claim)),
    release: far("release", (owner) => session.release(owner)),
    watch: (listener) => session.watch(listener),
    snapshot: far("snapshot", () => session.snapshot()),
    saveSnapshot: far("saveSnapshot", (snapshot) => session.saveSnapshot(snapshot)),
  });
  return {
    name: log.name,
    create: far("create", async (id: string, header: string) => handle(await log.create(id, header))),
    open: far("open", async (id: string) => {
      const session = await log.open(id);
      return session && handle(session);
    }),
    list: () => log.list(),
    remove: (id) => log.remove(id),
    close: () => log.close(),
  };
}

/** What a call came to where it was made; its error travels back, too. */
function settled<Args extends readonly unknown[], Result>(
  use: (...args: Args) => MaybePromise<Result>,
  args: Args,
): () => MaybePromise<Result> {
  try {
    const answer = use(...args);
    return () => answer;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** Passages that a test lets through one by one: all others pass at once. */
export class Gates {
  readonly #held: {
    readonly passage: Passage;
    readonly reached: () => void;
    readonly through: Promise<void>;
  }[] = [];

  readonly pass = async ({ call, way }: Passage): Promise<void> => {
    const index = this.#held.findIndex(({ passage }) => passage.call === call && passage.way === way);
    const [gate] = index < 0 ? [] : this.#held.splice(index, 1);
    gate?.reached();
    await gate?.through;
  };

  /** Holds the next such passage, until it is let through or breaks. */
  hold(call: Passage["call"], way: Passage["way"]): Gate {
    const reached = Promise.withResolvers<void>();
    const through = Promise.withResolvers<void>();
    through.promise.catch(() => undefined);
    this.#held.push({ passage: { call, way }, reached: reached.resolve, through: through.promise });
    return { reached: reached.promise, open: through.resolve, fail: through.reject };
  }
}

export interface Gate {
  /** When somebody stands before it. */
  readonly reached: Promise<void>;
  open(): void;
  fail(error: Error): void;
}
