import type { LlmCallOptions, LlmCaller } from "../caller.ts";
import { checkOptions, type OptionForms } from "../check-options.ts";
import { withWarnings } from "../failure.ts";
import type { LlmOutcome } from "../outcome.ts";
import type { LlmRequest } from "../request.ts";
import { checkCaller, checkFunction } from "./check-caller.ts";
import { redactJson } from "./redact-json.ts";
import { wrapCaller } from "./wrap-caller.ts";

/** One call of a model: plain JSON without secrets, for the fixtures of tests. `replayed` answers with it. */
export interface LlmRecording {
  readonly request: LlmRequest;
  readonly outcome: LlmOutcome;
}

/** Options of `recorded` and `replayed`. */
export interface RecordingOptions {
  /**
   * Texts that recordings must not contain. They are replaced by `[secret]`, in requests and in outcomes; keys in the formats
   * of well-known providers always are. Default: none.
   */
  readonly secrets?: readonly string[];
}

const recordingForms: OptionForms<RecordingOptions> = {
  secrets: {
    expectation: "a list of strings",
    fits: (value) => Array.isArray(value) && value.every((text) => typeof text === "string"),
    isSecret: true,
  },
};

/** The secrets in the options of `recorded` and `replayed`. Throws `LlmOptionError` for an unusable option. */
export function checkedSecrets(place: string, options: RecordingOptions): readonly string[] {
  checkOptions(place, options, recordingForms);
  return options.secrets ?? [];
}

/**
 * A caller that passes every call to `record` after its end, also a failed one, but not an aborted one. The outcome is the
 * caller's own. An error of `record` is a warning in the outcome. Throws `LlmOptionError` for an unusable option.
 */
export function recorded(
  caller: LlmCaller,
  record: (recording: LlmRecording) => PromiseLike<unknown> | void,
  options: RecordingOptions = {},
): LlmCaller {
  checkCaller("recorded", caller);
  checkFunction("recorded", "its second argument", record);
  const secrets = checkedSecrets("recorded", options);
  const call = async (request: LlmRequest, given?: LlmCallOptions): Promise<LlmOutcome> => {
    const outcome = await caller.call(request, given);
    if (!outcome.ok && outcome.failure.kind === "aborted") return outcome;
    try {
      await record(redactJson({ request, outcome }, secrets));
      return outcome;
    } catch (error) {
      return withWarnings(outcome, `the call was not recorded: ${String(error)}`);
    }
  };
  return wrapCaller(caller, call);
}
