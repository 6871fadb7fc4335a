export { createMoorex } from "./create-moorex.ts";
export type {
  CommitResult,
  Dispatch,
  DispatchResult,
  EffectRun,
  ErrorSource,
  Moorex,
  MoorexDefinition,
  MoorexNotice,
  Step,
} from "./definition.ts";
