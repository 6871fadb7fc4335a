import { readBody } from "../body.ts";
import { agUiFormat } from "../chat/ag-ui-format.ts";
import { newMessageOf, resumedAnswersOf, runInputSchema } from "../chat/ag-ui-request.ts";
import { postAnswers, postUserMessage } from "./chat-posts.ts";
import { chatSession, withStream } from "./chat-session.ts";
import type { Route } from "./route.ts";

/** Runs an agent for a client of AG-UI: answers its new message, or resumes after its interrupts. */
export const postAgUi: Route = async (call) => {
  const input = await readBody(call.request, runInputSchema, call.parts.context);
  const { threadId, runId, resume = [] } = input;
  const message = resume.length > 0 ? undefined : newMessageOf(input);
  const ref = await chatSession(call, threadId, message !== undefined);
  const format = agUiFormat({ threadId, runId });
  return await withStream(call, { ref, format }, async (stream, live) =>
    message === undefined
      ? await postAnswers(call, { stream, live }, (questions) => resumedAnswersOf(input, questions))
      : await postUserMessage(call, { stream, live }, message),
  );
};
