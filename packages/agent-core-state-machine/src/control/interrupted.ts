import type { Edit } from "../edit.ts";
import { wording } from "../wording.ts";
import { asked, failCall, recordOf, replaceCall, toolOf } from "./calls.ts";
import type { OpenCall } from "./control.ts";

/**
 * What becomes of a call whose run was broken off. `safe` and `keyed` run again, and so does what surely did not run;
 * `once` never: its probe is asked if it has one, else the outcome is unknown, and policy or a human settles it.
 */
export function interruptCall(edit: Edit, call: OpenCall, outcome: "unknown" | "not-run"): void {
  const tool = toolOf(edit, recordOf(edit, call.id)?.name ?? "");
  const running = call.status.type === "running";
  if (outcome === "not-run" || (running && (tool?.replay ?? "once") !== "once")) return runAgain(edit, call);
  if (running && tool?.probe === true && call.attempt < edit.config.maxToolAttempts)
    return replaceCall(edit, { ...call, attempt: call.attempt + 1, status: { type: "probing" } });
  if (tool?.onUnknown === "ask") return replaceCall(edit, asked(edit, call, "outcome"));
  failCall(edit, call.id, "outcome-unknown", wording.outcomeUnknown);
}

/** A probe that was broken off is made again; one that never comes through leaves the outcome unknown. */
export function interruptProbe(edit: Edit, call: OpenCall): void {
  if (call.attempt >= edit.config.maxToolAttempts) return interruptCall(edit, call, "unknown");
  replaceCall(edit, { ...call, attempt: call.attempt + 1 });
}

function runAgain(edit: Edit, call: OpenCall): void {
  if (call.attempt >= edit.config.maxToolAttempts)
    return failCall(edit, call.id, "crash-loop", wording.crashLoop(call.attempt));
  replaceCall(edit, { ...call, attempt: call.attempt + 1, status: { type: "queued" } });
}
