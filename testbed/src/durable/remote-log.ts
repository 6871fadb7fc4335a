import { inputsIn } from "@moora/agent-core-state-machine";
import {
  LogError,
  type EventLog,
  type LeaseClaim,
  type MaybePromise,
  type SessionLog,
} from "@moora/event-log";

/** A call of a log on its way there, or its answer on its way back. */
export interface Passage {
  readonly call:
    | "append"
    | "read"
    | "inspect"
    | "checkUpTo"
    | "lease"
    | "currentLease"
    | "release"
    | "snapshot"
    | "saveSnapshot"
    | "open"
    | "create";
  readonly way: "there" | "back";
  /** The content of the records of an append. */
  readonly types: readonly string[];
}

/** A log behind a network: `pass` resolves when a request or a response arrives. */
export function remoteLog(log: EventLog, pass: (passage: Passage) => Promise<void>): EventLog {
  const far =
    <Args extends readonly unknown[], Result>(
      call: Passage["call"],
      use: (...args: Args) => MaybePromise<Result>,
    ) =>
    async (...args: Args): Promise<Result> => {
      const types = typesOf(args[1]);
      await pass({ call, way: "there", types });
      const answer = settled(use, args);
      await pass({ call, way: "back", types });
      return answer();
    };
  const handle = (session: SessionLog): SessionLog => ({
    id: session.id,
    header: session.header,
    append: far("append", (expectedSeq, records) => session.append(expectedSeq, records)),
    read: far("read", (afterSeq?: number) => session.read(afterSeq)),
    inspect: far("inspect", () => session.inspect()),
    checkUpTo: far("checkUpTo", (seq) => session.checkUpTo(seq)),
    head: () => session.head(),
    lease: far("lease", (claim) => session.lease(claim)),
    currentLease: far("currentLease", () => session.currentLease()),
    release: far("release", (owner) => session.release(owner)),
    watch: (listener) => session.watch(listener),
    snapshot: far("snapshot", () => session.snapshot()),
    saveSnapshot: far("saveSnapshot", (snapshot) => session.saveSnapshot(snapshot)),
  });
  return {
    name: log.name,
    create: far("create", async (id: string, header: string, claim?: LeaseClaim) =>
      handle(await log.create(id, header, claim)),
    ),
    open: far("open", async (id: string) => {
      const session = await log.open(id);
      return session && handle(session);
    }),
    list: () => log.list(),
    remove: (id) => log.remove(id),
    close: () => log.close(),
  };
}

/** The result of a call where it was made; its error travels back, too. */
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

/** The types of the inputs in records, each with those of what begins with it. */
export const typesOf = (records: unknown): readonly string[] =>
  Array.isArray(records)
    ? records.flatMap(({ body }: { body: string }) => inputsIn(JSON.parse(body)).map(({ type }) => type))
    : [];

/** Passages that a test lets through or breaks one by one: all others pass at once, as long as the log is up. */
export class Gates {
  /** While the log is down, no request arrives. */
  isDown = false;
  /** What every append was of, in order. */
  readonly appends: (readonly string[])[] = [];
  readonly #held: {
    readonly at: Pick<Passage, "call" | "way">;
    readonly type: string | undefined;
    readonly reached: () => void;
    readonly through: Promise<void>;
  }[] = [];

  readonly pass = async ({ call, way, types }: Passage): Promise<void> => {
    if (call === "append" && way === "there") this.appends.push(types);
    if (this.isDown && way === "there") throw brokenConnection();
    const index = this.#held.findIndex(
      ({ at, type }) => at.call === call && at.way === way && (type === undefined || types.includes(type)),
    );
    const [gate] = index < 0 ? [] : this.#held.splice(index, 1);
    gate?.reached();
    await gate?.through;
  };

  /** Holds the next such passage, until it is let through or breaks. */
  hold(call: Passage["call"], way: Passage["way"], type?: string): Gate {
    const reached = Promise.withResolvers<void>();
    const through = Promise.withResolvers<void>();
    through.promise.catch(() => undefined);
    this.#held.push({ at: { call, way }, type, reached: reached.resolve, through: through.promise });
    return {
      reached: reached.promise,
      open: through.resolve,
      break: () => through.reject(brokenConnection()),
    };
  }
}

const brokenConnection = (): LogError => new LogError("LogWrite", "The connection broke.");

export interface Gate {
  /** Resolves when a caller waits before it. */
  readonly reached: Promise<void>;
  open(): void;
  break(): void;
}
