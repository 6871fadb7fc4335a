import { HttpProblem } from "../problem.ts";
import { callsMessageId, resultMessageId } from "./ag-ui-ids.ts";
import { placeOf } from "./cut-answer.ts";

/** The ids that chats give what they show: loops, reasoning, calls and results. The session itself reserves those of answers. */
const isReserved = (id: string): boolean =>
  /^(?:loop|reasoning)_\d/.test(id) ||
  [callsMessageId(""), resultMessageId("")].some((begin) => id.startsWith(begin));

/** Whether this server gives such an id to what it sends. */
export const isOfServer = (id: string): boolean => isReserved(id) || placeOf(id) !== undefined;

/** The id of a new message of a user. Throws `refused` for one that this server gives itself: a page would mix up the two. */
export function checkedUserMessageId(id: string): string {
  if (!isReserved(id)) return id;
  throw new HttpProblem("refused", "The message was ignored: reserved-id.", { path: "messages" });
}
