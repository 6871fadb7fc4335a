import type { AskingStatus, ControlOf, OpenCall } from "./control/control.ts";
import type { ReActContext } from "./state.ts";

/**
 * Keys name the work an effect does, never a time. A key that was answered or given up is never wanted again: loops,
 * steps, attempts, questions, reminders and entries only grow.
 */
export const planKey = (context: ReActContext, { attempt }: ControlOf<"Planning">): string =>
  `plan/${context.loop}/${context.step}/${attempt}`;

export const reflectKey = (context: ReActContext, { attempt }: ControlOf<"Reflecting">): string =>
  `reflect/${context.loop}/${context.step}/${attempt}`;

export const toolKey = ({ id, attempt }: OpenCall): string => `tool/${id}/${attempt}`;

export const probeKey = ({ id, attempt }: OpenCall): string => `probe/${id}/${attempt}`;

export const askKey = ({ id, attempt }: OpenCall, { question, reminder }: AskingStatus): string =>
  `ask/${id}/${question}/${attempt}/${reminder}`;

export const stateKey = (context: ReActContext, { entry, attempt }: ControlOf<"Custom">): string =>
  `state/${context.loop}/${entry}/${attempt}`;

/** The wait that ends in the next attempt of a model call. */
export const retryWaitKey = (context: ReActContext, control: ControlOf<"Planning">): string =>
  `wait/${planKey(context, control)}`;

/** The wait after which a question counts as rejected. */
export const expiryWaitKey = ({ id }: OpenCall, { question }: AskingStatus): string =>
  `wait/ask/${id}/${question}/expiry`;

/** The wait after which a question is shown again. */
export const reminderWaitKey = ({ id }: OpenCall, { question, reminder }: AskingStatus): string =>
  `wait/ask/${id}/${question}/reminder/${reminder + 1}`;

/** The wait after which a question is put before others. */
export const escalationWaitKey = ({ id }: OpenCall, { question }: AskingStatus): string =>
  `wait/ask/${id}/${question}/escalation`;

/** The id of the message that a plan streams into. */
export const answerMessageId = (context: ReActContext, { attempt }: ControlOf<"Planning">): string =>
  attempt === 1 ? `msg_${context.loop}_${context.step}` : `msg_${context.loop}_${context.step}_${attempt}`;

/** Ids that no host may take: answers, calls that exist in a request only, and the name that cannot be a key of a record. */
export const isReservedId = (id: string): boolean =>
  id === "__proto__" || /^(?:msg_\d+_\d+(?:_\d+)?$|internal\/|loaded\/)/.test(id);
