import type { AskingStatus, ControlOf, OpenCall } from "./control/control.ts";
import type { ReActContext } from "./state.ts";
import type { Schedule } from "./schedule.ts";

/**
 * The key of a plan. Keys identify the work of an effect and contain no time. A settled key is not wanted again, because
 * loops, steps, attempts, questions, reminders and entries only grow.
 */
export const planKey = (context: ReActContext, { attempt }: ControlOf<"Planning">): string =>
  `plan/${context.loop}/${context.step}/${attempt}`;

/** The key of the model call of a reflection. */
export const reflectKey = (context: ReActContext, { attempt }: ControlOf<"Reflecting">): string =>
  `reflect/${context.loop}/${context.step}/${attempt}`;

/** The key of an attempt of a tool call. */
export const toolKey = ({ id, attempt }: OpenCall): string => `tool/${id}/${attempt}`;

/** Whether a key is that of an attempt of a tool call. */
export const isToolKey = (key: string): boolean => key.startsWith("tool/");

/** The id of the tool call with this key of an attempt. */
export const toolCallIdIn = (key: string): string => key.slice("tool/".length, key.lastIndexOf("/"));

/** The key of the probe of a tool call. */
export const probeKey = ({ id, attempt }: OpenCall): string => `probe/${id}/${attempt}`;

/** The key of a question to a person; a reminder has a new one. */
export const askKey = ({ id, attempt }: OpenCall, { question, reminder }: AskingStatus): string =>
  `ask/${id}/${question}/${attempt}/${reminder}`;

/** The key of an attempt to run the handler of a custom state. */
export const stateKey = (context: ReActContext, { entry, attempt }: ControlOf<"Custom">): string =>
  `state/${context.loop}/${entry}/${attempt}`;

/** The key of the wait for the next attempt of a model call. */
export const retryWaitKey = (context: ReActContext, control: ControlOf<"Planning">): string =>
  `wait/${planKey(context, control)}`;

/** The key of the wait for the next attempt of a tool call. */
export const toolRetryWaitKey = (call: OpenCall): string => `wait/${toolKey(call)}`;

/** The key of the wait after which a question expires. */
export const expiryWaitKey = ({ id }: OpenCall, { question }: AskingStatus): string =>
  `wait/ask/${id}/${question}/expiry`;

/** The key of the wait after which a question is shown again. */
export const reminderWaitKey = ({ id }: OpenCall, { question, reminder }: AskingStatus): string =>
  `wait/ask/${id}/${question}/reminder/${reminder + 1}`;

/** The key of the wait after which a question is escalated. */
export const escalationWaitKey = ({ id }: OpenCall, { question }: AskingStatus): string =>
  `wait/ask/${id}/${question}/escalation`;

/** The key of the wait for a due time of a schedule. */
export const scheduleWaitKey = ({ number }: Schedule): string => `wait/schedule/${number}`;

/** Whether a key is that of the wait for a due time of a schedule. */
export const isScheduleKey = (key: string): boolean => key.startsWith("wait/schedule/");

/** The id of the message of a due time of a schedule, by the key of its wait. Reserved, so that no other message has it. */
export const scheduledMessageId = (key: string): string => key.replace("wait/", "internal/");

/** The id of the message that a plan streams into. */
export const answerMessageId = (context: ReActContext, { attempt }: ControlOf<"Planning">): string =>
  attempt === 1 ? `msg_${context.loop}_${context.step}` : `msg_${context.loop}_${context.step}_${attempt}`;

/** Whether an id is reserved: for answers, for calls that exist only in a request, or as a key that a record cannot have. */
export const isReservedId = (id: string): boolean =>
  id === "__proto__" || /^(?:msg_\d+_\d+(?:_\d+)?$|internal\/|loaded\/)/.test(id);
