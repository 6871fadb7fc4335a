export { given, givenAgent, NotShown } from "./given.ts";
export type { Transcript } from "./given.ts";
export { firstDifference, LawBroken } from "./laws/law-broken.ts";
export { answeredKey } from "./laws/effect-laws.ts";
export { keepLaws } from "./laws/keep-laws.ts";
export type { LawKeeper, LawsOptions } from "./laws/keep-laws.ts";
export type { Dialect, Dialects } from "./laws/request-laws.ts";
export {
  asked,
  cancelled,
  decided,
  failed,
  handled,
  interrupted,
  opened,
  started,
  succeeded,
  timePassed,
} from "./make-inputs.ts";
export { answered, callFailed, callsMade, llmStarted, summarized } from "./make-model-inputs.ts";
export type { MadeCall, MadeTurn } from "./make-model-inputs.ts";
export { goldenLogs } from "./golden-logs.ts";
export type { GoldenDifference, GoldenOptions, GoldenReport } from "./golden-logs.ts";
export { replayLog, replayPortable, ReplayDiffers } from "./replay-log.ts";
export type { ReplayedLog, ReplayOptions } from "./replay-log.ts";
export type { AgentDifference } from "./compare-agent.ts";
export { seededChoose } from "./seeded-choose.ts";
export { requestProblems } from "./laws/request-problems.ts";
export { drawConfig, drawConfigChange, drawTools } from "./draw-config.ts";
export { drawInput } from "./draw-input.ts";
export type { Choose } from "./choose.ts";
export type { SimAction, SimulatedSession } from "./simulation/action.ts";
export type { ToolAnswer } from "./simulation/tool-answer.ts";
export type { ModelAnswer } from "./simulation/model-answer.ts";
export type { DrawArguments, DrawResult, OwnDraws } from "./simulation/draws.ts";
export { faultNames } from "./simulation/faults.ts";
export { InvariantBroken } from "./simulation/invariant-broken.ts";
export { simulate, simulateActions } from "./simulation/simulate.ts";
export type { SimulateActionsOptions } from "./simulation/simulate.ts";
export type { SimulateOptions, SimulationSource } from "./simulation/simulate-options.ts";
export type { SessionResult } from "./simulation/simulate-session.ts";
export type { StoryLine } from "./simulation/sim-world.ts";
export type { Coverage } from "./simulation/coverage.ts";
export type { Invariant, Invariants } from "./simulation/invariants.ts";
export type { Release } from "./simulation/release.ts";
export type { ToolRun } from "./simulation/pending.ts";
export { identityOf, kitVersion } from "./simulation/identity.ts";
export type { SimulationFailure, SimulationReport } from "./simulation/report.ts";
export { VirtualClock } from "./simulation/virtual-clock.ts";
export { readDataset, resultsFile } from "./evals/eval-case.ts";
export type { EvalCase } from "./evals/eval-case.ts";
export type { CaseResult, EvalGate, EvalReport, EvalResults } from "./evals/eval-report.ts";
export { evaluate } from "./evals/evaluate.ts";
export type { EvaluateOptions } from "./evals/evaluate.ts";
export type { RecordedCase } from "./evals/run-case.ts";
export type { EvalUsage } from "./evals/eval-usage.ts";
export { builtInScorers, judge } from "./evals/scorers.ts";
export type { EvalRun, Score, Scorer } from "./evals/scorers.ts";
