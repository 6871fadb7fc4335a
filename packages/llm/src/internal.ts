/** Helpers that other packages of Moora share. Not a public API: anything here may change in any release. */
export { base64OfUrl, base64ToBytes } from "./data-url.ts";
export { knownKeys, mapTexts } from "./combinators/redact-json.ts";
export { untilAborted } from "./combinators/until-aborted.ts";
export { withoutScheme } from "./connection.ts";
export { redactor, secretForms, secretMark } from "./failure-text.ts";
export { estimateUsage } from "./estimate-tokens.ts";
export { fileToName, fileToUrl } from "./file-to-text.ts";
export { lostNumber } from "./json-numbers.ts";
export { lostInJson } from "./lost-in-json.ts";
export { repeatedKey } from "./repeated-key.ts";
export { hasMoreItemsThan, isJsonObject, isObject, textToJson, withWellFormedText } from "./json.ts";
export { isMissing } from "./load-sdk.ts";
export {
  oneOf,
  optionForms,
  optionsProblem,
  required,
  shownValue,
  withMethods,
  type OptionForm,
  type OptionForms,
  type OptionWords,
} from "./check-options.ts";
export { didYouMean, nearest, optionHint } from "./nearest.ts";
export { mapFiles } from "./map-files.ts";
export { madeOf, type MadeOf } from "./provider-fields.ts";
export { readOutcome } from "./read-outcome.ts";
export { isTokenCount } from "./reported-usage.ts";
export { rootCause } from "./root-cause.ts";
export { objectSchemaOf } from "./schema/object-schema.ts";
export { resolvePointer } from "./schema/schema-facts.ts";
