import { userMessage, type AgentInput } from "@moora/agent";
import { checkOptions, required, type OptionForms } from "@moora/agent-core-effects/internal";
import { memoryLog, type EventLog } from "@moora/event-log";
import { sessionCall } from "./ingress.ts";
import { idForm, ingressForm } from "./options.ts";
import { SessionCache } from "./session-cache.ts";
import { SessionReader } from "./session-reader.ts";
import { SessionWaits } from "./session-waits.ts";
import type { PostedResult } from "./session-messages.ts";
import type { RestateSession } from "./session-handle.ts";

/** Which session of which agent. */
export interface SessionOptions {
  /** The URL of the ingress of Restate. */
  readonly ingressUrl: string;
  /** The name of the agent. */
  readonly agent: string;
  /** A well-formed string of 1 to 200 characters, as in logs, and not "." or "..". */
  readonly id: string;
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
  const call = sessionCall(ingressUrl, agent);
  const reader = new SessionReader(call);
  const cache = new SessionCache(call, Number.POSITIVE_INFINITY);
  const posted = async (result: Promise<PostedResult>): Promise<PostedResult> => {
    const answer = await result;
    waits.wake();
    return answer;
  };
  const post = (input: AgentInput): Promise<PostedResult> => posted(call(id, "post", { inputs: [input] }));
  const decide: RestateSession["decide"] = async (question, decision, by = "user") =>
    hasApplied(await posted(call(id, "decide", { question, decision, by })));
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
