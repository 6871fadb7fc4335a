import {
  userMessage,
  type AgentInput,
  type AgentRun,
  type AgentState,
  type Decision,
  type Question,
  type UserContent,
} from "@moora/agent";
import { checkOptions, required, type OptionForms } from "@moora/agent-core-effects/internal";
import { memoryLog, type EventLog } from "@moora/event-log";
import { callSession } from "./ingress.ts";
import { idForm, ingressForm, serviceNames } from "./options.ts";
import { SessionCache } from "./session-cache.ts";
import { SessionReader } from "./session-reader.ts";
import { SessionWaits } from "./session-waits.ts";
import type { Decided, Posted, PostedResult } from "./session-messages.ts";

/** Which session of which agent. */
export interface SessionOptions {
  /** The URL of the ingress of Restate. */
  readonly ingressUrl: string;
  /** The name of the agent. */
  readonly agent: string;
  /** A well-formed string of 1 to 200 characters, as in logs, and not "." or "..". */
  readonly id: string;
}

/** The state of a session, and the sequence number of its last record. */
export interface CurrentSession {
  readonly state: AgentState;
  readonly seq: number;
}

/**
 * A session on Restate, from any process. Its methods reject with `RestateFailure`, but for the run of `ask`. `Answer` is the type of the
 * answers of the agent: a text, or with a schema the JSON value that fits it.
 */
export interface RestateSession<Answer = string> {
  /**
   * Sends a message and runs the loop. Await the run for its result, or iterate over its events: it resolves with the answer to its message,
   * and rejects with `AgentError`, as that of `ask` in a `Session`. A message that could not be posted, or that Restate has refused, rejects with the
   * kind `MemoryError`, whose `cause` is the `RestateFailure`, and a session that is removed meanwhile with the reason `LogRemoved`. While Restate does not
   * answer, the run waits. Its events are those of records: without the text that the model streams, and without those of sub-agents.
   */
  ask(content: UserContent): AgentRun<Answer>;
  /**
   * Resolves with the first state, from the newest on, that is as `isReached` says; of a session that has received nothing, from its first
   * input on. Rejects with `LogError`, code `LogRemoved`, if the session is removed meanwhile, with what `isReached` throws, and with `BuildError` for
   * a value that is not a function. While Restate does not answer, but for the first read, it waits.
   */
  waitFor(isReached: (state: AgentState) => boolean): Promise<AgentState>;
  /** Sends a message. Resolves with whether it applied, when it is durable. */
  send(content: UserContent): Promise<boolean>;
  /**
   * Answers a question. `by` names the reviewer (default: "user"). Resolves with whether the decision applied. Rejects with
   * `RestateFailure`, status 400, for one that does not fit the question or the schema of the tool.
   */
  decide(
    question: Pick<Question, "toolCallId" | "digest">,
    decision: Decision,
    by?: string,
  ): Promise<boolean>;
  /** Cancels the running loop. Resolves with whether one ran. */
  cancel(reason?: string): Promise<boolean>;
  /** Posts an input that any caller may dispatch. Resolves with whether it applied. */
  post(input: AgentInput): Promise<boolean>;
  /**
   * Resolves with the session; undefined if it has received nothing. The handle keeps it: at the next call, it reads only what is new,
   * which this process folds. Between releases with other states, it reads what the newest deployment has folded.
   */
  current(): Promise<CurrentSession | undefined>;
  /** Copies the session to a log in memory, where it can be verified, replayed and exported. */
  toLog(): Promise<EventLog>;
}

const forms: OptionForms<SessionOptions> = {
  ingressUrl: required(ingressForm),
  agent: required("string"),
  id: required(idForm),
};

/**
 * A handle on a session on Restate. It opens nothing, and does not have to be closed: it reads the session when it is called, and, while a run
 * of `ask` or a call of `waitFor` waits, at least once a second. Throws `BuildError` for invalid options, and for an agent whose
 * name is not the name of a service.
 */
export function restateSession<Answer = string>(options: SessionOptions): RestateSession<Answer> {
  checkOptions("restateSession", options, forms);
  const { ingressUrl, agent, id } = options;
  const { session: service } = serviceNames(agent);
  const reader = new SessionReader({ ingressUrl, service });
  const cache = new SessionCache({ ingressUrl, service, bytes: Number.POSITIVE_INFINITY });
  const call = async (handler: "post" | "decide", body: Posted | Decided): Promise<PostedResult> => {
    // The object answers with what its handlers return.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const result = (await callSession(ingressUrl, { service, id, handler }, body)) as PostedResult;
    waits.wake();
    return result;
  };
  const post = (input: AgentInput): Promise<PostedResult> => call("post", { inputs: [input] });
  const decide: RestateSession["decide"] = async (question, decision, by = "user") =>
    hasApplied(await call("decide", { question, decision, by }));
  const cancel = async (reason?: string): Promise<boolean> => {
    const given = reason === undefined ? {} : { reason };
    return hasApplied(await post({ type: "re-act-cancelled", ...given, timestamp: Date.now() }));
  };
  const waits = new SessionWaits<Answer>({ id, reader, cache, decide, post, cancel });
  return {
    ask: (content) => waits.ask(content),
    waitFor: (isReached) => waits.waitFor(isReached),
    post: async (input) => hasApplied(await post(input)),
    send: async (content) => hasApplied(await post(userMessage(content))),
    decide,
    cancel,
    async current() {
      const known = await cache.readCurrent(id);
      if (known === undefined) return undefined;
      const { state, head } = known.session;
      return { state, seq: head.seq };
    },
    toLog: () => copyToLog(id, reader, cache),
  };
}

const hasApplied = ({ applied = 0 }: PostedResult): boolean => applied > 0;

/** A log in memory with a copy of the session, if it has received anything. */
async function copyToLog(id: string, reader: SessionReader, cache: SessionCache): Promise<EventLog> {
  const log = memoryLog();
  const known = await cache.readCurrent(id);
  if (known === undefined) return log;
  const session = await log.create(id, known.header);
  let seq = 0;
  for await (const page of reader.recordPages(id, { after: 0, last: known.session.head.seq })) {
    await session.append(seq, page);
    seq += page.length;
  }
  return log;
}
