export type {
  BatchResult,
  CommitResult,
  CommittedInput,
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
