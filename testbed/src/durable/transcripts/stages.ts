import { openCallsOf, recordOf } from "@moora/agent-core-state-machine/internal";
import type { SessionView } from "@moora/agent";

/** Whether a conversation has reached a certain stage, at which it stays until an input arrives. */
export type Stage = (view: SessionView) => boolean;

/** The model is asked and has said nothing yet. */
export const thinks: Stage = ({ reActContext: { control }, streaming }) =>
  control.type === "Planning" && control.started && streaming === null;

/** The model has said so much of its answer. */
export const streams =
  (text: string): Stage =>
  ({ streaming }) =>
    streaming?.text === text;

/** A call of this tool runs. */
export const runs =
  (tool: string): Stage =>
  (view) =>
    openCallsOf(view.reActContext.control).some(
      ({ id, status }) => status.type === "running" && status.started && recordOf(view, id)?.name === tool,
    );

/** Only a call of this tool still runs, of all that were made. */
export const onlyRuns =
  (tool: string): Stage =>
  (view) =>
    openCallsOf(view.reActContext.control).length === 1 && runs(tool)(view);

/** So many calls are asked about. */
export const asked =
  (count: number): Stage =>
  ({ reActContext: { control } }) =>
    openCallsOf(control).filter(({ status }) => status.type === "asking").length === count;

/** A failed call of the model is to be made again later. */
export const waitsToRetry: Stage = ({ reActContext: { control } }) =>
  control.type === "Planning" && control.retryAt !== null;

/** The model is asked for a summary. */
export const reflects: Stage = ({ reActContext: { control } }) =>
  control.type === "Reflecting" && control.started;

/** A state of the user's own is being handled. */
export const handles: Stage = ({ reActContext: { control } }) => control.type === "Custom";

/** Both, at a given loop of the conversation. */
export const inLoop =
  (loop: number, stage: Stage): Stage =>
  (view) =>
    view.reActContext.loop === loop && stage(view);
