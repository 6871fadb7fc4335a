import { messageOf } from "../collections/state-lists.ts";
import { scheduledMessageId } from "../keys.ts";
import type { DeadlinePassedInput, ScheduleChangedInput } from "../input.ts";
import type { StateEdit } from "../state-edit.ts";
import type { AgentState } from "../state.ts";
import type { Schedule } from "../schedule.ts";
import type { InputHandler } from "./input-handler.ts";
import { isLoopRunning } from "./loop.ts";
import { receiveMessage } from "./user-message.ts";

/** The most open schedules of a session. */
export const maxSchedules = 100;

/** The open schedules of a state. */
export const schedulesAt = ({ schedules }: Pick<AgentState, "schedules">): readonly Schedule[] =>
  schedules?.open ?? [];

export const scheduleChanged: InputHandler<ScheduleChangedInput> = (state, { scheduleId, schedule, by }) => {
  const before = schedulesAt(state).find(({ id }) => id === scheduleId);
  if (schedule === null)
    return before === undefined ? "unknown-schedule" : (edit) => replaceSchedule(edit, before);
  if (schedule.message.trim() === "") return "blank";
  // A program sets its schedules at each start: they must not begin anew.
  if (before !== undefined && contentOf(before) === contentOf(schedule)) return "nothing-new";
  if (before === undefined && schedulesAt(state).length >= maxSchedules) return "too-many-schedules";
  return (edit) => replaceSchedule(edit, before, { ...schedule, id: scheduleId, by });
};

const contentOf = ({ when, message, missed }: Omit<Schedule, "id" | "by" | "number">): string =>
  JSON.stringify([when, message, missed]);

/** Puts a schedule with its next due time in the place of another one, or nothing. The number of a due time is not used again. */
function replaceSchedule(
  edit: StateEdit,
  before: Schedule | undefined,
  next?: Omit<Schedule, "number">,
): void {
  const number = (edit.schedules?.count ?? 0) + (next === undefined ? 0 : 1);
  const others = schedulesAt(edit).filter((other) => other !== before);
  edit.set({
    schedules: { count: number, open: next === undefined ? others : [...others, { ...next, number }] },
  });
}

/** Ends a due time: adds its message unless it was missed or waits in the queue already, and waits for the next one. */
export function passSchedule(
  edit: StateEdit,
  schedule: Schedule,
  { key, next, missed, timestamp }: DeadlinePassedInput,
): void {
  replaceSchedule(edit, schedule, next === undefined ? undefined : { ...schedule, due: next });
  if (missed === true || isQueued(edit, schedule)) return;
  const { id, by, message: content } = schedule;
  receiveMessage(edit, {
    messageId: scheduledMessageId(key),
    content,
    scheduled: { id, by },
    timestamp,
  });
}

/** Whether the running loop has yet to read the same message of a schedule. */
const isQueued = (state: AgentState, { id, message }: Schedule): boolean =>
  isLoopRunning(state) &&
  state.reActContext.queued.some((entry) => {
    const queued = entry.type === "message" ? messageOf(state, entry.messageId) : undefined;
    return queued?.scheduled?.id === id && queued.content === message;
  });
