export { given, givenAgent, NotShown } from "./given.ts";
export type { Transcript } from "./given.ts";
export { firstDifference, LawBroken } from "./law-broken.ts";
export { answeredKey, keepLaws } from "./laws.ts";
export type { Dialect, LawKeeper, LawsOptions } from "./laws.ts";
export {
  answered,
  asked,
  callFailed,
  callsMade,
  cancelled,
  decided,
  failed,
  handled,
  interrupted,
  llmStarted,
  opened,
  started,
  succeeded,
  summarised,
  timePassed,
} from "./make-inputs.ts";
export type { MadeCall, MadeTurn } from "./make-inputs.ts";
export { seededChoose } from "./seeded-choose.ts";
export { requestProblems } from "./request-problems.ts";
export { drawConfig, drawConfigChange, drawInput, drawTools } from "./draw-input.ts";
export type { Choose } from "./draw-input.ts";
