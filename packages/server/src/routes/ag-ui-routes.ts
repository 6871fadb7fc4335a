import type { Question } from "@moora/agent";
import { readBody } from "../body.ts";
import { resumedAnswersOf } from "../chat/ag-ui-answers.ts";
import { agUiFormat } from "../chat/ag-ui-format.ts";
import {
  newMessageOf,
  postedStateOf,
  runInputSchema,
  subjectOf,
  type RunInput,
} from "../chat/ag-ui-request.ts";
import type { UserMessage } from "../chat/chat-request.ts";
import { conflictingAnswers } from "../chat/conflicting-answers.ts";
import { isRejection, lateAnswers } from "../chat/late-answers.ts";
import { HttpProblem } from "../problem.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import { requireQuestions } from "./awaited-questions.ts";
import { checkAnswers } from "./checked-answers.ts";
import { checkMessage, postAnswers, postUserMessage } from "./chat-posts.ts";
import { chatSession, permitted, withStream } from "./chat-session.ts";
import { postState, type StateRefusal } from "./posted-state.ts";
import type { Route, RouteCall } from "./route.ts";

/**
 * Runs an agent for a client of AG-UI: takes its state, answers its new message, and resumes after its interrupts. A run with neither
 * continues what the client was cut off from.
 */
export const postAgUi: Route = async (call) => {
  const input = await readBody(call.request, runInputSchema, call.parts.context);
  const { threadId, runId, resume = [] } = input;
  if (resume.length > 0) return await resumeThread(call, input);
  const message = newMessageOf(input);
  const ref = await chatSession(call, threadId, message === undefined ? "read" : "post");
  const format = agUiFormat({ threadId, runId }, input.messages);
  return await withStream(call, { ref, format }, async (stream, live) => {
    await live.refresh();
    const refusal = await stateRefusal(call, live, { input, message });
    if (refusal !== undefined) stream.refuse(refusal.message, refusal.code);
    else if (message !== undefined) await postUserMessage(call, { stream, live }, message);
    else stream.begin({ type: "rest" });
    return true;
  });
};

/** Resumes an agent after its interrupts, with a new message if the run has one. */
async function resumeThread(call: RouteCall, input: RunInput): Promise<Response> {
  const { threadId, runId, messages, resume = [] } = input;
  // A client that resumes may end with a message that is not posted, such as a result of its own.
  const last = messages.at(-1)?.role === "user" ? newMessageOf(input) : undefined;
  const ref = await chatSession(call, threadId, "read");
  const format = agUiFormat({ threadId, runId }, messages);
  return await withStream(call, { ref, format }, async (stream, live) => {
    await live.refresh();
    const digests = resume.map(({ interruptId }) => interruptId);
    const logged = await requireQuestions(call.parts.context, live, digests);
    const open = [...live.stream.questions, ...logged];
    const answers = resumedAnswersOf(input, open);
    // Those that the session does not accept leave the data as it is.
    await checkAnswers(call, live, answers);
    const refused = conflictingAnswers(answers) ?? (await lateAnswers(live, resume, open));
    const message =
      refused === undefined && last !== undefined ? await unsentOf(call, live, last) : undefined;
    const endsLoop = message !== undefined && live.session.current().config.interjection === "restart";
    if (endsLoop) checkRejections(input, open);
    const refusal = refused ?? (await stateRefusal(call, live, { input, message: undefined }));
    if (refusal !== undefined) {
      stream.refuse(refusal.message, refusal.code, refused !== undefined);
      return true;
    }
    // A message that ends the loop cancels its questions.
    const checked = endsLoop ? [] : answers;
    const decided = await postAnswers(call, { stream, live, answers: checked, digests, logged, message });
    // One that was decided since it was checked ends the run with an error, unless its answer is the same.
    const wasOpen = new Set(checked.map(({ question }) => question.digest));
    const others = resume.filter(({ interruptId: id }) => wasOpen.has(id) && !decided.has(id));
    const late = await lateAnswers(live, others, live.stream.questions);
    if (late !== undefined) stream.refuse(late.message, late.code);
    stream.release();
    return true;
  });
}

/** A message that the session does not have; undefined for one that it has. Throws `forbidden`, and `refused` for one that it would ignore. */
async function unsentOf(
  call: RouteCall,
  live: LiveSession,
  message: UserMessage,
): Promise<UserMessage | undefined> {
  await checkMessage(call, live, message);
  if (live.session.current().messages.some(({ id }) => id === message.messageId)) return undefined;
  await permitted(call.access, live.ref, ["post"]);
  return message;
}

/** Throws `refused` for an approval or an answer that comes with a message which ends its loop: the question is canceled. */
function checkRejections({ resume = [] }: RunInput, open: readonly Question[]): void {
  const index = resume.findIndex(
    (answer) => !isRejection(answer) && open.some(({ digest }) => digest === answer.interruptId),
  );
  if (index === -1) return;
  const detail =
    "The new message ends the loop that waits for this answer. Send the message with rejections, or after the answers.";
  throw new HttpProblem("refused", detail, { path: `resume.${index}` });
}

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
  return await postState(call, live, { ...posted, threadId, about: subjectOf(input), answers: resume });
}
