import type { LlmCaller } from "../caller.ts";

/** A caller with the name and the model of another one, and a `call` of its own. */
export const wrapCaller = ({ name, model }: LlmCaller, call: LlmCaller["call"]): LlmCaller => ({
  name,
  ...(model !== undefined && { model }),
  call,
});
