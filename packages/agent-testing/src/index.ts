export { given, givenAgent, NotShown } from "./given.ts";
export type { Transcript } from "./given.ts";
export { firstDifference, LawBroken } from "./laws/law-broken.ts";
export { answeredKey } from "./laws/effect-laws.ts";
export { keepLaws } from "./laws/keep-laws.ts";
export type { LawKeeper, LawsOptions } from "./laws/keep-laws.ts";
export type { Dialect, Dialects } from "./laws/request-laws.ts";
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
export { replayLog, replayPortable, ReplayDiffers } from "./replay-log.ts";
export type { ReplayedLog } from "./replay-log.ts";
export { seededChoose } from "./seeded-choose.ts";
export { requestProblems } from "./laws/request-problems.ts";
export { drawConfig, drawConfigChange, drawInput, drawTools } from "./draw-input.ts";
export type { Choose } from "./draw-input.ts";
export { InvariantBroken } from "./simulation/sim-world.ts";
export { simulate, simulateChoices } from "./simulation/simulate.ts";
export type { SimulateOptions } from "./simulation/simulate.ts";
export { missedPairs } from "./simulation/coverage.ts";
export type { Coverage } from "./simulation/coverage.ts";
export type { Invariant } from "./simulation/invariants.ts";
export { simulationVersion } from "./simulation/simulation-report.ts";
export type { SimulationFailure, SimulationReport } from "./simulation/simulation-report.ts";
export { VirtualClock } from "./simulation/virtual-clock.ts";
export { explore } from "./exploration/explore.ts";
export type { ExploredAgent, ExploreOptions, ExploreReport } from "./exploration/explore.ts";
export type { SmallOutcome } from "./exploration/small-answers.ts";
