import { callIdempotencyKey, toolNamed } from "@moora/agent-core-effects/internal";
import { openCallsOf, recordOf } from "@moora/agent-core-state-machine/internal";
import type { Question } from "../agent-event.ts";
import type { Agent } from "../define-agent.ts";
import type { DurableSession } from "../durable/durable-session.ts";
import { identityOf } from "../durable/session-header.ts";
import { codeAt } from "../team/member-at.ts";
import { openToPost } from "./post-to-sub-agent.ts";
import { below } from "./sub-agents.ts";

/** The questions of a session and of its sub-agents, as the logs have them. */
export interface LoggedQuestions {
  readonly open: readonly Question[];
  /** The digests of questions that were decided. A call may ask again under its digest, which is open then. */
  readonly decided: readonly string[];
}

/**
 * Reads the questions of a session, and those of the sub-agents of its open calls, at any depth, from their logs, whichever process runs
 * them. Those of a sub-agent in memory are not among them.
 */
export async function loggedQuestions(
  agent: Agent<unknown>,
  session: DurableSession<unknown>,
): Promise<LoggedQuestions> {
  const state = session.current();
  const open: Question[] = [...session.questions()];
  const decided = (await session.history()).flatMap(({ input }) =>
    input.type === "tool-call-decided" ? [input.digest] : [],
  );
  for (const { id } of openCallsOf(state.reActContext.control)) {
    const tool = toolNamed(codeAt(agent, state).parts.tools, recordOf(state, id)?.name ?? "");
    const idempotencyKey = callIdempotencyKey(identityOf(session.id, session.header), id);
    const called = tool && (await openToPost(tool, { idempotencyKey }));
    if (called === undefined) continue;
    try {
      const lower = await loggedQuestions(called.agent, called.session);
      open.push(...lower.open.map((question) => below(id, question)));
      decided.push(...lower.decided);
    } finally {
      await called.session.close();
    }
  }
  return { open, decided };
}
