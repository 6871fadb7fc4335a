import type { SessionPausedInput, SessionResumedInput } from "../input.ts";
import type { AgentState } from "../state.ts";
import type { InputHandler } from "./input-handler.ts";

/** Whether a session is paused: it wants no work that has not started. */
export const isPaused = ({ paused }: Pick<AgentState, "paused">): boolean => paused != null;

export const sessionPaused: InputHandler<SessionPausedInput> = (state, { reason, timestamp }) => {
  if (isPaused(state)) return "already-paused";
  return (edit) => edit.set({ paused: { pausedAt: timestamp, ...(reason === undefined ? {} : { reason }) } });
};

export const sessionResumed: InputHandler<SessionResumedInput> = (state) =>
  isPaused(state) ? (edit) => edit.set({ paused: null }) : "not-paused";
