import { callIdempotencyKey, toolNamed } from "@moora/agent-core-effects/internal";
import { openCallsOf, recordOf } from "@moora/agent-core-state-machine/internal";
import type { Question } from "../agent-event.ts";
import type { Agent } from "../define-agent.ts";
import type { DurableSession } from "../durable/durable-session.ts";
import { identityOf } from "../durable/session-header.ts";
import { codeAt } from "../team/member-at.ts";
import { openToPost } from "./post-to-sub-agent.ts";
import { below } from "./sub-agents.ts";

/** What the logs of the sub-agents of a session have of their questions. */
export interface LoggedQuestions {
  readonly open: readonly Question[];
  /** The digests of questions that were decided. A call may ask again under its digest, which is open then. */
  readonly decided: readonly string[];
}

/**
 * Reads the questions of the sub-agents of the open calls of a session, at any depth, from their logs, whichever process runs them. Those of a
 * sub-agent in memory are not among them.
 */
export async function loggedQuestions(
  agent: Agent<unknown>,
  session: DurableSession<unknown>,
): Promise<LoggedQuestions> {
  const state = session.current();
  const identity = identityOf(session.id, session.header);
  const found = await Promise.all(
    openCallsOf(state.reActContext.control).map(async ({ id }) => {
      const tool = toolNamed(codeAt(agent, state).parts.tools, recordOf(state, id)?.name ?? "");
      const idempotencyKey = callIdempotencyKey(identity, id);
      const called = tool === undefined ? undefined : await openToPost(tool, { idempotencyKey });
      if (called === undefined) return noQuestions;
      try {
        const { open, decided } = await questionsOf(called.agent, called.session);
        return { open: open.map((question) => below(id, question)), decided };
      } finally {
        await called.session.close();
      }
    }),
  );
  return { open: found.flatMap(({ open }) => open), decided: found.flatMap(({ decided }) => decided) };
}

const noQuestions: LoggedQuestions = { open: [], decided: [] };

/** The questions of the session of a sub-agent, and of those below it. */
async function questionsOf(
  agent: Agent<unknown>,
  session: DurableSession<unknown>,
): Promise<LoggedQuestions> {
  const lower = await loggedQuestions(agent, session);
  const decided = (await session.history()).flatMap(({ input }) =>
    input.type === "tool-call-decided" ? [input.digest] : [],
  );
  return { open: [...session.questions(), ...lower.open], decided: [...decided, ...lower.decided] };
}
