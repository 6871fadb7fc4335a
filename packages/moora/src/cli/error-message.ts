import type { AgentError } from "@moora/agent";
import type { ChosenLlm } from "./choose-llm.ts";
import { errorToFailure, type CliFailure } from "./cli-failure.ts";
import { exitCodes, type ExitCode } from "./cli-host.ts";

/** The maximum length of quoted text of a provider. */
const maxQuoted = 300;

/** The names in the text of a failure. */
type Model = Pick<ChosenLlm, "provider" | "model" | "timeoutSeconds">;

interface FailureText {
  readonly cause: (model: Model, quoted: string) => string;
  /** The advice for the user, if any. */
  readonly advice?: string;
}

/** One row for each way in which a model call can fail. */
const modelFailures: Readonly<Record<string, FailureText>> = {
  auth: {
    cause: ({ provider }, quoted) =>
      `${provider.name} rejected the API key${provider.keyName === undefined ? "" : ` in ${provider.keyName}`}. ${quoted}`,
  },
  billing: {
    cause: ({ provider }, quoted) => `The account at ${provider.name} has no credit left. ${quoted}`,
  },
  "rate-limit": {
    cause: ({ provider }) => `${provider.name} received too many requests from this account.`,
    advice: "Try again later.",
  },
  overloaded: { cause: ({ provider }) => `${provider.name} is overloaded.`, advice: "Try again later." },
  server: { cause: ({ provider }, quoted) => `${provider.name} reported an error of its own. ${quoted}` },
  timeout: {
    cause: ({ provider, timeoutSeconds }) => `${provider.name} sent nothing for ${timeoutSeconds} s.`,
    advice: "Wait longer with --timeout SECONDS.",
  },
  connection: {
    cause: ({ provider }, quoted) => `Cannot connect to ${provider.name}. ${quoted}`,
    advice: "Check the network, and --base-url if you set it.",
  },
  interrupted: { cause: ({ provider }) => `The connection to ${provider.name} was interrupted.` },
  "context-length": {
    cause: ({ model }) => `The conversation is too long for ${model}.`,
    advice: "Start a new session, or read less at a time.",
  },
  refusal: { cause: ({ model }, quoted) => `${model} declined to answer. ${quoted}` },
  "content-filter": {
    cause: ({ provider }, quoted) => `The content filter of ${provider.name} blocked the answer. ${quoted}`,
  },
  empty: { cause: ({ model }) => `${model} gave an empty answer.` },
  malformed: { cause: ({ model }, quoted) => `The answer of ${model} cannot be parsed. ${quoted}` },
};

/** The exit code of a loop that ended in an error. */
export const errorToExitCode = (error: AgentError): ExitCode =>
  error.kind === "Cancelled" ? exitCodes.canceled : (logFailure(error)?.exitCode ?? exitCodes.failed);

/** Set where not the agent failed, but the log of its session. */
const logFailure = ({ kind, cause }: AgentError): CliFailure | undefined =>
  kind === "Conflict" || kind === "LogCorrupt" || kind === "MemoryError" ? errorToFailure(cause) : undefined;

/** A message of a sentence or two: what failed, and what to do if an option of the command line can do it. */
export function errorToMessage(error: AgentError, model: Model | undefined): string {
  if (error.kind === "Cancelled") return "Canceled.";
  const ofLog = logFailure(error);
  if (ofLog !== undefined) return ofLog.message;
  if (model === undefined) return `The agent failed. ${toSentence(error.message)}`;
  if (error.reason === "MaxSteps")
    return "The agent used all its steps without an answer. Allow more with --max-steps.";
  if (error.reason.startsWith("Budget"))
    return "The agent used all its tokens without an answer. Allow more with --max-tokens.";
  if (error.kind !== "LlmError") return `The agent failed. ${toSentence(error.message)}`;
  const { cause, advice = "" } = describeModelFailure(error.reason, error.message, model);
  const { retryAt } = error;
  const when =
    retryAt === undefined ? advice : `It accepts the next request at ${new Date(retryAt).toISOString()}.`;
  return `${cause} ${when}`.trim();
}

/** Why a model call failed, in a sentence or two. */
export const modelFailureCause = (kind: string, message: string, model: Model | undefined): string =>
  model === undefined ? toSentence(message) : describeModelFailure(kind, message, model).cause;

function describeModelFailure(
  kind: string,
  message: string,
  model: Model,
): { readonly cause: string; readonly advice?: string } {
  const name = model.provider.name;
  if (kind === "invalid-request" && isUnknownModel(message, model.model)) {
    return {
      cause: `${name} does not have the model "${model.model}".`,
      advice: "Choose another one with --model.",
    };
  }
  const quoted = toSentence(message);
  const found = Object.hasOwn(modelFailures, kind) ? modelFailures[kind] : undefined;
  if (found === undefined) return { cause: `${name} did not answer. ${quoted}`.trim() };
  const { advice } = found;
  return { cause: found.cause(model, quoted).trim(), ...(advice !== undefined && { advice }) };
}

/** Providers phrase it differently, but all name the model, or use the word. */
const isUnknownModel = (message: string, model: string): boolean =>
  model !== "" &&
  /\bmodel\b/i.test(message) &&
  /not[ _]?found|not exist|unknown|invalid|no such|unsupported|not a valid/i.test(message);

/** The text of a provider as a sentence. */
function toSentence(message: string): string {
  const line = message
    .replaceAll(/\s+/g, " ")
    .replace(/^\d{3} /, "")
    .trim();
  if (line.length > maxQuoted) return `${line.slice(0, maxQuoted).toWellFormed()}...`;
  return line === "" || /[.!?]$/.test(line) ? line : `${line}.`;
}
