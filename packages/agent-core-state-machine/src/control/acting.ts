import type { Edit } from "../edit.ts";
import { admit, callsOnEntry } from "./calls.ts";
import type { Enter } from "./fired.ts";

const asks = (edit: Edit): boolean => callsOnEntry(edit).some((call) => call.status.type === "asking");

const entering =
  (type: "Acting" | "ParallelActing"): Enter =>
  (edit) => {
    const calls = callsOnEntry(edit);
    edit.setContext({ control: { type, calls } });
    if (calls.length === 0)
      return {
        event: "FatalError",
        failure: { kind: "NoToolCalls", message: `${type} was entered without a call to run.` },
      };
    if (asks(edit)) return { event: "OutcomeUnknown" };
    admit(edit);
    return undefined;
  };

export const enterActing: Enter = entering("Acting");
export const enterParallelActing: Enter = entering("ParallelActing");

/** Calls that ask nobody run while the others wait for their human. */
export const enterWaitingForHuman: Enter = (edit) => {
  edit.setContext({ control: { type: "WaitingForHuman", calls: callsOnEntry(edit) } });
  if (!asks(edit)) return { event: "HumanApproved" };
  admit(edit);
  return undefined;
};
