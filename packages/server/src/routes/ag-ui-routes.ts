import { readBody } from "../body.ts";
import { agUiFormat } from "../chat/ag-ui-format.ts";
import {
  newMessageOf,
  postedStateOf,
  resumedAnswersOf,
  runInputSchema,
  type RunInput,
} from "../chat/ag-ui-request.ts";
import type { UserMessage } from "../chat/chat-request.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import { checkMessage, postAnswers, postUserMessage } from "./chat-posts.ts";
import { chatSession, withStream } from "./chat-session.ts";
import { postState, type StateRefusal } from "./posted-state.ts";
import type { Route, RouteCall } from "./route.ts";

/** Runs an agent for a client of AG-UI: takes its state, and answers its new message, or resumes after its interrupts. */
export const postAgUi: Route = async (call) => {
  const input = await readBody(call.request, runInputSchema, call.parts.context);
  const { threadId, runId, resume = [] } = input;
  const message = resume.length > 0 ? undefined : newMessageOf(input);
  const ref = await chatSession(call, threadId, message !== undefined);
  const format = agUiFormat({ threadId, runId });
  return await withStream(call, { ref, format }, async (stream, live) => {
    const refusal = await stateRefusal(call, live, { input, message });
    if (refusal !== undefined) {
      stream.refuse(refusal.message, refusal.code);
      return true;
    }
    return message === undefined
      ? await postAnswers(call, { stream, live }, (questions) => resumedAnswersOf(input, questions))
      : await postUserMessage(call, { stream, live }, message);
  });
};

/** Takes the state of a client. Returns why it is refused. The message of a repeated run is in the log: its state was taken then. */
async function stateRefusal(
  call: RouteCall,
  live: LiveSession,
  { input, message }: { readonly input: RunInput; readonly message: UserMessage | undefined },
): Promise<StateRefusal | undefined> {
  const posted = postedStateOf(input);
  if (posted === undefined) return undefined;
  const { threadId, resume = [] } = input;
  await live.refresh();
  if (live.session.current().messages.some(({ id }) => id === message?.messageId)) return undefined;
  // A message that the state does not accept leaves the data as it is.
  if (message !== undefined) await checkMessage(call, live, message);
  const run = [threadId, message?.messageId ?? resume.map(({ interruptId }) => interruptId)];
  return await postState(call, live, { ...posted, run });
}
