/** A value that is not the step of a script, for the message that refuses it. */
export function shownStep(step: unknown): string {
  if (typeof step === "string") return JSON.stringify(step.slice(0, 60));
  if (typeof step === "object" && step !== null) return "an object";
  return typeof step === "function" ? "a function" : String(step);
}
