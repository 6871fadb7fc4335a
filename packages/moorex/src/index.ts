export { createMoorex } from "./create-moorex.ts";
export type {
  BaseDefinition,
  CommitResult,
  CommittedInput,
  DetailedDefinition,
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
  Transitioned,
} from "./definition.ts";
