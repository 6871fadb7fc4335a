/** Exports for the other packages of this repository. Not a public API: they may change in any release. */
export { lostNumber, repeatedKey } from "@moora/llm/internal";
export { callId, namedCallId } from "./call-id.ts";
export { blobProblem } from "./check-blobs.ts";
export { checkAgent } from "./check-agent.ts";
export { checkOptions } from "./check-options.ts";
export { errorText } from "./error-text.ts";
export { refuse } from "./errors/build-error.ts";
export { fieldPath, fieldProblem } from "./field-problem.ts";
export { internalTools, searchToolName } from "./internal-tools.ts";
export { after, isPromise } from "./is-promise.ts";
export {
  didYouMean,
  isObject,
  nearest,
  oneOf,
  optionForms,
  optionHint,
  optionsProblem,
  required,
  shownValue,
  withMethods,
  type OptionForm,
  type OptionForms,
} from "@moora/llm/internal";
export { isEffectWanted, isHeld, isRetryWait } from "./open-effects.ts";
export { refusalOfTool } from "./run/commit-data.ts";
export { callHostOf, callIdempotencyKey } from "./run/call-context.ts";
export { driveProgram, type ProgramDriver } from "./run/effect-program.ts";
export { cacheBreakText } from "./request/cache-break.ts";
export { leftOutTexts } from "./request/left-out-texts.ts";
export { parseArguments } from "./tool/parse-arguments.ts";
export { summaryStart } from "./request/messages.ts";
export { requestAt } from "./request/llm-request-at.ts";
export { reflectionPrompt } from "./request/reflection.ts";
export { failureInput } from "./run/programs.ts";
export { deadlinePassed } from "./run/wait-until.ts";
export { setLongTimeout } from "./run/long-timeout.ts";
export { toolQuestionDigest } from "./run/call-tool.ts";
export { callDigest } from "./run/observation.ts";
export { usageReported } from "./run/late-usage.ts";
export { validUsage } from "./run/valid-usage.ts";
export { schemaCheckOf } from "./tool/schema-check.ts";
export { isStandardSchema } from "./tool/standard-schema.ts";
export { oneLine, resultSummary } from "./one-line.ts";
export { fileForms } from "./tool/tool-reply.ts";
export { checkToolName, contextForm, dataForm } from "./tool/tool-definition.ts";
export { toolNamed } from "./tool/tool-named.ts";
export { truncated } from "./truncate.ts";
export { textToJson } from "@moora/llm/internal";
