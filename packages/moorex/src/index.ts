export type {
  BatchResult,
  CommitResult,
  CommittedInput,
  ContinuedStep,
  Dispatch,
  DispatchedInput,
  DispatchResult,
  EffectRun,
  ErrorSource,
  LateInput,
  Moorex,
  MoorexDefinition,
  MoorexNotice,
  RunContext,
  Step,
} from "./definition.ts";
export { createMoorex } from "./machine.ts";
