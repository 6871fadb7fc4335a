export { createMoorex } from "./create-moorex.ts";
export type {
  BaseDefinition,
  CommitResult,
  CommittedInput,
  DetailedDefinition,
  Dispatch,
  DispatchResult,
  EffectRun,
  ErrorSource,
  Moorex,
  MoorexDefinition,
  MoorexNotice,
  Step,
  Transitioned,
} from "./definition.ts";
