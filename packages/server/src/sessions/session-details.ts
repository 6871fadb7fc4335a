import {
  escapeHiddenCharacters,
  SessionError,
  type AgentState,
  type LogRecord,
  type SessionLog,
} from "@moora/agent";
import { controlName, questionsAt, restoreSession, snapshotVersion } from "@moora/agent/internal";
import { oneLine } from "@moora/agent-core-effects/internal";
import type { SessionSummary } from "@moora/agent-webui-protocol";
import * as z from "zod/mini";
import { textToJson } from "./session-header.ts";
import type { SessionPool } from "./session-pool.ts";

type Details = Pick<SessionSummary, "updatedAt" | "title" | "state" | "cost">;

/** The most records that are folded for a list, and the longest snapshot that is read for it, in UTF-16 code units. */
const mostFolded = 200;
const longestSnapshot = 2_000_000;

/** The records at the beginning of a session among which its title is looked for. */
const mostBeforeTitle = 8;

/** The length of a title, before its hidden characters are escaped. */
const titleLength = 80;

/** For how many sessions the details are remembered. */
const mostKnown = 10_000;

/** What a list shows of a session beside its position. Of a session that has not changed since the list before, one record is read. */
export class SessionDetails {
  readonly #pool: SessionPool;
  /** By the digests of last records, each of which is that of one history. */
  readonly #known = new Map<string, Details>();
  #reading: Promise<unknown> = Promise.resolve();

  constructor(pool: SessionPool) {
    this.#pool = pool;
  }

  async detailsOf(session: SessionLog, seq: number): Promise<Details> {
    const [last] = await session.read(seq - 1, 1);
    if (last === undefined) return {};
    const details = this.#known.get(last.digest) ?? (await this.#read(session, last));
    const live = await this.#pool.opened(session.id);
    if (live === undefined) return details;
    return { ...details, ...foldedDetails(live.session.current(), live.stream.questions.length) };
  }

  /** Reads one session after the other, so that a list never has the records of many in memory. */
  async #read(session: SessionLog, last: LogRecord): Promise<Details> {
    const reading = this.#reading.then(async () => await readDetails(session, last));
    this.#reading = reading.catch(() => undefined);
    const details = await reading;
    this.#known.set(last.digest, details);
    const [oldest] = this.#known.keys();
    if (this.#known.size > mostKnown && oldest !== undefined) this.#known.delete(oldest);
    return details;
  }
}

/** What a state says: its title if a person or the application has given one in the data. */
function foldedDetails(
  { reActContext, usage, data }: Pick<AgentState, "reActContext" | "usage" | "data">,
  questions: number,
): Details {
  const given = titledSchema.safeParse(data).data?.title ?? "";
  return {
    state: { control: controlName(reActContext.control), questions },
    // Without prices it is 0.
    ...(usage.cost === undefined || usage.cost === 0 ? {} : { cost: usage.cost }),
    ...titled(given),
  };
}

const titledSchema = z.object({ title: z.string() });

/** A text as a title: none if it is blank. */
function titled(text: string): Details {
  const title = escapeHiddenCharacters(oneLine(text, titleLength));
  return title === "" ? {} : { title };
}

const timedSchema = z.object({ timestamp: z.number() });
const messageSchema = z.object({ type: z.literal("user-message-received"), content: z.string() });

async function readDetails(session: SessionLog, last: LogRecord): Promise<Details> {
  const first = await session.read(0, mostBeforeTitle);
  const contents = first
    .slice(0, mostBeforeTitle)
    .map(({ body }) => messageSchema.safeParse(textToJson(body)).data?.content);
  const updatedAt = timedSchema.safeParse(textToJson(last.body)).data?.timestamp;
  const state = await foldedState(session, last.seq);
  return {
    ...(updatedAt === undefined ? {} : { updatedAt }),
    ...titled(contents.find((text) => text !== undefined) ?? ""),
    ...(state === undefined ? {} : foldedDetails(state, questionsAt(state).length)),
  };
}

/** The state after record `seq`; undefined if too many records follow the snapshot, and for records of a newer release. */
async function foldedState(session: SessionLog, seq: number): Promise<AgentState | undefined> {
  const snapshot = await session.snapshot();
  const isUsable = snapshot?.version === snapshotVersion && snapshot.body.length <= longestSnapshot;
  if (seq - (isUsable ? snapshot.seq : 0) > mostFolded) return undefined;
  try {
    const { state, stoppedBy } = await restoreSession(session);
    return stoppedBy === undefined ? state : undefined;
  } catch (error) {
    if (error instanceof SessionError) return undefined;
    throw error;
  }
}
