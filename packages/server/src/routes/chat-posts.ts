import { stateAt, type Question, type Receipt } from "@moora/agent";
import { ignoredReason } from "@moora/agent/internal";
import { requireRight } from "../access/authorization.ts";
import type { AnsweredQuestion, UserMessage } from "../chat/chat-request.ts";
import type { ChatStream } from "../chat/chat-stream.ts";
import { conflictingAnswers } from "../chat/conflicting-answers.ts";
import type { PostedMessage } from "../chat/posted-message.ts";
import { checkAttachments } from "../files/files-of-session.ts";
import { HttpProblem } from "../problem.ts";
import type { ServerContext } from "../server-options.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import { subAgentUnlogged } from "./awaited-questions.ts";
import type { RouteCall } from "./route.ts";

/** A post to a chat, and the stream that answers it. */
export interface ChatPost {
  readonly stream: ChatStream;
  readonly live: LiveSession;
}

/** Throws `refused` for a message that the session would ignore now, except for one that it has already with the same text. */
export async function checkMessage(
  { parts: { context } }: RouteCall,
  live: LiveSession,
  message: UserMessage,
): Promise<void> {
  await live.post((session) =>
    checkAttachments(context, session, { attachments: message.attachments, path: "messages" }),
  );
  const input = { type: "user-message-received", ...message, timestamp: context.clock.now() } as const;
  const reason = ignoredReason(input)(live.session.current());
  if (reason === "duplicate-id") checkSameText(live, message);
  else if (reason !== undefined) throw refused({ status: "ignored", reason });
}

/** Throws `refused` for a message that the session has with another text. */
export function checkSameText({ session }: LiveSession, { messageId, content }: UserMessage): void {
  const before = session.current().messages.find(({ id }) => id === messageId);
  if (before?.content === content) return;
  throw new HttpProblem(
    "refused",
    "A message with this id and another text exists. Messages cannot be edited.",
  );
}

/** Posts a message, whose answer the stream shows. A repeated message is answered with the same loop. */
export async function postUserMessage(
  call: RouteCall,
  { stream, live }: ChatPost,
  message: UserMessage,
): Promise<true> {
  const { messageId } = message;
  stream.begin({ type: "message", messageId });
  const isNew = await recordMessage(call, live, message);
  // Another server has recorded it meanwhile.
  if (isNew || stream.hasBegun) return true;
  // A repeated request, whose first answer was lost.
  stream.begin({ type: "replay", loop: await loopOf(call.parts.context, live, messageId) });
  return true;
}

/** Records a message. Returns false for one that the session has already, and throws `refused` for one that it ignores. */
async function recordMessage(
  { parts: { context } }: RouteCall,
  live: LiveSession,
  message: UserMessage,
): Promise<boolean> {
  const { attachments } = message;
  const timestamp = context.clock.now();
  const receipt = await context.counters.countPost("messages", () =>
    live.post(async (session) => {
      await checkAttachments(context, session, { attachments, path: "messages" });
      return await session.dispatch({ type: "user-message-received", ...message, timestamp });
    }),
  );
  if (receipt.status === "accepted") return true;
  if (receipt.reason !== "duplicate-id") throw refused(receipt);
  checkSameText(live, message);
  return false;
}

/**
 * Records the message that comes with answers, before them. Begins the stream, which does not end before it is released: with the
 * conversation of the log if some of the answers are `late`.
 */
async function beginWithMessage(
  call: RouteCall,
  { stream, live }: ChatPost,
  { message, isLate }: { readonly message: UserMessage; readonly isLate: boolean },
): Promise<void> {
  if (!isLate) stream.begin({ type: "message", messageId: message.messageId, isHeld: true });
  await recordMessage(call, live, message);
  // Another process may have recorded it.
  await live.refresh();
  if (!stream.hasBegun) stream.begin(isLate ? rest : { type: "continue" });
}

/** The client lacks what became of its answers: nothing shows which results it has. */
const rest = { type: "rest", isHeld: true } as const;

/** The loop that a message has begun, or that was running when it came; undefined for the newest one. */
export async function loopOf(
  { log }: Pick<ServerContext, "log">,
  { session, ref }: LiveSession,
  messageId: string,
): Promise<number | undefined> {
  const last = session.current().messages.findLast(({ role }) => role === "user");
  if (last?.id === messageId) return undefined;
  const posted = (await session.history()).find(
    ({ input }) => input.type === "user-message-received" && input.messageId === messageId,
  );
  if (posted === undefined) return undefined;
  return (await stateAt(log, ref.id, posted.seq)).state.reActContext.loop;
}

/** A post of answers, with the message that comes with them. */
interface AnswersPost extends ChatPost {
  readonly answers: readonly AnsweredQuestion[];
  /** What the client has of the loop that it answers; undefined for a format that does not show it. */
  readonly posted?: PostedMessage;
  /** The digests of the questions that a client without `posted` answers. */
  readonly digests?: readonly string[];
  /** The questions that only the logs of sub-agents have. */
  readonly logged: readonly Question[];
  readonly message?: UserMessage | undefined;
}

/**
 * Answers questions, and continues the stream of their loop after what the client has `posted`; it does not end before it is released. If one
 * of the `digests` is not that of an answer to an open question, the stream begins with the conversation of the log. A `message` is recorded
 * before, so that the model reads it together with the answers. Returns the digests of the questions that these answers have decided. Throws
 * `refused` for two different answers to one question, and for a message that the session ignores.
 */
export async function postAnswers(
  call: RouteCall,
  { stream, live, answers: given, posted, digests = [], logged, message }: AnswersPost,
): Promise<ReadonlySet<string>> {
  // Another process may run the session, and have decided what this one has not read.
  await live.refresh();
  const open = new Set([...live.stream.questions, ...logged].map(({ digest }) => digest));
  const answers = given.filter(({ question }) => open.has(question.digest));
  const conflict = conflictingAnswers(answers);
  if (conflict !== undefined) throw new HttpProblem("refused", conflict.message, { path: "messages" });
  const isLate = digests.some((digest) => !answers.some(({ question }) => question.digest === digest));
  if (message !== undefined) await beginWithMessage(call, { stream, live }, { message, isLate });
  else stream.begin(isLate ? rest : { type: "continue", posted, logged });
  return await decideAll(call, live, answers);
}

/** Records answers. Returns the digests of the questions that they have decided. Throws `unavailable` for one that this server cannot pass on. */
async function decideAll(
  call: RouteCall,
  live: LiveSession,
  answers: readonly AnsweredQuestion[],
): Promise<ReadonlySet<string>> {
  const decided = new Set<string>();
  for (const answer of answers) {
    const { question } = answer;
    const receipt = await decide(call, live, answer);
    if (receipt.status === "accepted") decided.add(question.digest);
    else if (receipt.reason === "no-sub-agent" && !live.isOwner) throw subAgentUnlogged();
    live.stream.closeQuestion(question);
  }
  return decided;
}

async function decide(
  { access, parts }: RouteCall,
  live: LiveSession,
  { question, decision }: AnsweredQuestion,
): Promise<Receipt> {
  await requireRight(access, "decide", live.ref, "chat");
  return await parts.context.counters.countPost("decisions", () =>
    live.post((session) => session.decide(question, decision, access.user)),
  );
}

const refused = (receipt: Extract<Receipt, { status: "ignored" }>): HttpProblem =>
  new HttpProblem("refused", `The message was ignored: ${receipt.reason}.`);
