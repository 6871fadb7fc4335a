import type { LlmCallOptions, LlmCaller } from "../caller.ts";
import { failedOutcome, failureOf } from "../failure.ts";
import { LlmOptionError } from "../llm-option-error.ts";
import type { LlmOutcome } from "../outcome.ts";
import type { LlmRequest } from "../request.ts";
import { isJsonObject } from "../json.ts";
import { withAnswerer } from "./answered-by.ts";
import { abortedOutcome, playOutcome } from "./play-outcome.ts";
import { checkedSecrets, type LlmRecording, type RecordingOptions } from "./recorded.ts";
import { redactJson } from "./redact-json.ts";
import { canonicalJson } from "./request-digest.ts";

/** A caller that answers from recordings. */
export interface ReplayedLlm extends LlmCaller {
  /** The number of recordings that were not used yet. */
  readonly left: number;
  callSync(request: LlmRequest): LlmOutcome;
}

/**
 * A caller that answers each request with the recording of an equal one, and streams its text. Recordings of equal requests
 * are used in their order, each once. A request without a recording fails as `invalid-request`. `secrets` are those of
 * `recorded`. Throws `LlmOptionError` for an unusable option.
 */
export function replayed(recordings: readonly LlmRecording[], options: RecordingOptions = {}): ReplayedLlm {
  if (!Array.isArray(recordings))
    throw new LlmOptionError("replayed needs a list of recordings as its first argument.");
  const wrong = recordings.findIndex((recording) => !isRecording(recording));
  if (wrong !== -1)
    throw new LlmOptionError(`recordings[${wrong}] of replayed must be an object with request and outcome.`);
  const secrets = checkedSecrets("replayed", options);
  const keyOf = (request: LlmRequest): string => canonicalJson(redactJson(request, secrets));
  const outcomes = Map.groupBy(recordings, ({ request }) => keyOf(request));
  let left = recordings.length;
  const callSync = (request: LlmRequest): LlmOutcome => {
    const recording = outcomes.get(keyOf(request))?.shift();
    if (recording === undefined) return unknownRequest(request, left);
    left -= 1;
    return withAnswerer(recording.outcome, { name }, "recording");
  };
  const call = async (request: LlmRequest, given: LlmCallOptions = {}): Promise<LlmOutcome> =>
    given.signal?.aborted ? abortedOutcome() : playOutcome(callSync(request), given);
  return {
    name,
    get left() {
      return left;
    },
    call,
    callSync,
  };
}

const isRecording = (value: unknown): boolean =>
  isJsonObject(value) && isJsonObject(value["request"]) && isJsonObject(value["outcome"]);

const name = "replayed";

const unknownRequest = ({ purpose, model, messages }: LlmRequest, left: number): LlmOutcome =>
  failedOutcome(
    failureOf(
      "invalid-request",
      `No recording for a request to ${JSON.stringify(model)} with purpose ${purpose} and ${messages.length} messages, of which the last is ${JSON.stringify(messages.at(-1))?.slice(0, 300)}. Unused recordings: ${left}. Record again with the present prompts and tools.`,
    ),
  );
