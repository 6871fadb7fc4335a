import { decisionProblem, InputRefused } from "@moora/agent";
import { schemaCheckOf } from "@moora/agent-core-effects/internal";
import { requireRight } from "../access/authorization.ts";
import type { AnsweredQuestion } from "../chat/chat-request.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import { checkPassable } from "./awaited-questions.ts";
import type { RouteCall } from "./route.ts";

/**
 * Throws for answers that the session would refuse now: `forbidden`, `InputRefused` for one that does not fit, or `unavailable` for one
 * that this server cannot pass on. Changed arguments of a call of a sub-agent are checked only when they are decided.
 */
export async function checkAnswers(
  { access }: RouteCall,
  live: LiveSession,
  answers: readonly AnsweredQuestion[],
): Promise<void> {
  const { agent, ref, session } = live;
  if (answers.length > 0) await requireRight(access, "decide", ref, "chat");
  const state = session.current();
  const problems = await Promise.all(
    answers.map(async ({ question: { toolCallId, path, answerSchema }, decision }) => {
      if (path === undefined) return await decisionProblem(agent.parts, state, toolCallId, decision);
      if (answerSchema === undefined || typeof decision !== "object" || !("answer" in decision))
        return undefined;
      const checked = await schemaCheckOf(JSON.parse(answerSchema), undefined).check(decision.answer);
      return checked.ok
        ? undefined
        : { code: "invalid-answer", path: "decision.answer", message: checked.problem };
    }),
  );
  for (const problem of problems) if (problem !== undefined) throw new InputRefused(problem);
  await checkPassable(
    live,
    answers.map(({ question }) => question),
  );
}
