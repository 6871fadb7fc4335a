import {
  userMessage,
  type AgentInput,
  type AgentState,
  type Decision,
  type Question,
  type UserContent,
} from "@moora/agent";
import type { OptionForms } from "@moora/agent-core-effects/internal";
import { memoryLog, type EventLog } from "@moora/event-log";
import { callSession } from "./ingress.ts";
import { checkRequired, idForm, ingressForm, serviceNames } from "./options.ts";
import { SessionCache } from "./session-cache.ts";
import { SessionReader } from "./session-reader.ts";
import type { PostedResult } from "./session-messages.ts";

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

/** A session on Restate, from any process. Its methods reject with `RestateFailure`. */
export interface RestateSession {
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
  ingressUrl: ingressForm,
  agent: "string",
  id: idForm,
};

/**
 * A handle on a session on Restate. It opens nothing, and does not have to be closed. Throws `BuildError` for invalid options, and
 * for an agent whose name is not the name of a service.
 */
export function restateSession(options: SessionOptions): RestateSession {
  checkRequired("restateSession", options, { forms, required: ["ingressUrl", "agent", "id"] });
  const { ingressUrl, agent, id } = options;
  const { session: service } = serviceNames(agent);
  const reader = new SessionReader({ ingressUrl, service });
  const cache = new SessionCache({ ingressUrl, service, bytes: Number.POSITIVE_INFINITY });
  // The object answers with what its handlers return.
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  const call = async <Result>(handler: string, body: unknown): Promise<Result> =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    (await callSession(ingressUrl, { service, id, handler }, body)) as Result;
  const post = async (input: AgentInput): Promise<boolean> => {
    const { applied = 0 } = await call<PostedResult>("post", { inputs: [input] });
    return applied > 0;
  };
  return {
    post,
    send: (content) => post(userMessage(content)),
    async decide(question, decision, by = "user") {
      const { applied = 0 } = await call<PostedResult>("decide", { question, decision, by });
      return applied > 0;
    },
    cancel: (reason) =>
      post({ type: "re-act-cancelled", ...(reason === undefined ? {} : { reason }), timestamp: Date.now() }),
    async current() {
      const known = await cache.readCurrent(id);
      if (known === undefined) return undefined;
      const { state, head } = known.session;
      return { state, seq: head.seq };
    },
    async toLog() {
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
    },
  };
}
