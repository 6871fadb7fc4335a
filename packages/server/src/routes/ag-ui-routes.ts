import type { Question } from "@moora/agent";
import { readBody } from "../body.ts";
import { resumedAnswersOf } from "../chat/ag-ui-answers.ts";
import { agUiFormat } from "../chat/ag-ui-format.ts";
import { newMessageOf, postedStateOf, runInputSchema, type RunInput } from "../chat/ag-ui-request.ts";
import type { AnsweredQuestion, UserMessage } from "../chat/chat-request.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import { requireQuestions } from "./awaited-questions.ts";
import { checkAnswers } from "./checked-answers.ts";
import { checkMessage, postAnswers, postUserMessage } from "./chat-posts.ts";
import { chatSession, withStream } from "./chat-session.ts";
import { postState, type StateRefusal } from "./posted-state.ts";
import type { Route, RouteCall } from "./route.ts";

/** Runs an agent for a client of AG-UI: takes its state, and answers its new message, or resumes after its interrupts. */
export const postAgUi: Route = async (call) => {
  const input = await readBody(call.request, runInputSchema, call.parts.context);
  const { threadId, runId, resume = [] } = input;
  const message = resume.length > 0 ? undefined : newMessageOf(input);
  const ref = await chatSession(call, threadId, message === undefined ? "read" : "post");
  const format = agUiFormat({ threadId, runId }, input.messages);
  return await withStream(call, { ref, format }, async (stream, live) => {
    await live.refresh();
    const answersOf = (questions: readonly Question[]): readonly AnsweredQuestion[] =>
      resumedAnswersOf(input, questions);
    if (message === undefined) {
      const digests = resume.map(({ interruptId }) => interruptId);
      await requireQuestions(call.parts.context, live, digests);
      // Answers that the session does not accept leave the data as it is.
      await checkAnswers(call, live, answersOf(live.stream.questions));
    }
    const refusal = await stateRefusal(call, live, { input, message });
    if (refusal !== undefined) {
      stream.refuse(refusal.message, refusal.code);
      return true;
    }
    return message === undefined
      ? await postAnswers(call, { stream, live }, answersOf)
      : await postUserMessage(call, { stream, live }, message);
  });
};

/** Takes the state of a client. Returns why it is refused. */
async function stateRefusal(
  call: RouteCall,
  live: LiveSession,
  { input, message }: { readonly input: RunInput; readonly message: UserMessage | undefined },
): Promise<StateRefusal | undefined> {
  const posted = postedStateOf(input);
  if (posted === undefined) return undefined;
  const { threadId, resume = [] } = input;
  // A message that the state does not accept leaves the data as it is.
  if (message !== undefined) await checkMessage(call, live, message);
  const about = message?.messageId ?? resume.map(({ interruptId }) => interruptId);
  return await postState(call, live, { ...posted, run: [threadId, about], answers: resume });
}
