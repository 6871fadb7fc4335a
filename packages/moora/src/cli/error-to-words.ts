import type { AgentError } from "@moora/agent";
import type { ChosenLlm } from "./choose-llm.ts";
import { errorToFailure, type CliFailure } from "./cli-failure.ts";
import { exitCodes, type ExitCode } from "./cli-host.ts";

/** How much of a provider's own words is repeated. */
const maxQuoted = 300;

type Words = (chosen: Pick<ChosenLlm, "provider" | "model">, quoted: string) => string;

/** One row for each way in which a model can fail. */
const ofModel: Readonly<Record<string, Words>> = {
  auth: ({ provider }, quoted) =>
    `${provider.name} does not accept the key${provider.keyName === undefined ? "" : ` in ${provider.keyName}`}. ${quoted}`,
  billing: ({ provider }, quoted) => `The account at ${provider.name} has no credit left. ${quoted}`,
  "rate-limit": ({ provider }) =>
    `${provider.name} has had too many requests from this account. Try again later.`,
  overloaded: ({ provider }) => `${provider.name} is overloaded at present. Try again later.`,
  server: ({ provider }, quoted) => `${provider.name} has a fault on its side. ${quoted}`,
  timeout: ({ provider }) => `${provider.name} was silent for too long.`,
  connection: ({ provider }, quoted) =>
    `There is no connection to ${provider.name}: check the network, and the address if you gave one. ${quoted}`,
  interrupted: ({ provider }) => `The connection to ${provider.name} broke off again and again.`,
  "context-length": ({ model }) =>
    `The conversation is too long for ${model}. Begin a new one, or read less at a time.`,
  refusal: ({ model }, quoted) => `${model} declined to answer. ${quoted}`,
  "content-filter": ({ provider }, quoted) => `The content filter of ${provider.name} stopped it. ${quoted}`,
  empty: ({ model }) => `${model} gave an empty answer.`,
  malformed: ({ model }, quoted) => `The answer of ${model} cannot be read. ${quoted}`,
};

/** What the shell is told of a loop that ended in an error. */
export const errorToExitCode = (error: AgentError): ExitCode =>
  error.kind === "Cancelled" ? exitCodes.cancelled : (logFailure(error)?.exitCode ?? exitCodes.failed);

/** Where it was not the agent that failed, but the log that it lives in. */
const logFailure = ({ kind, cause }: AgentError): CliFailure | undefined =>
  kind === "Conflict" || kind === "LogCorrupt" || kind === "MemoryError" ? errorToFailure(cause) : undefined;

/** What went wrong, for a person: a sentence or two, and what to do where something can be done. */
export function errorToWords(error: AgentError, chosen: Pick<ChosenLlm, "provider" | "model">): string {
  const quoted = quote(error.message);
  if (error.kind === "Cancelled") return "Cancelled.";
  const ofLog = logFailure(error);
  if (ofLog !== undefined) return ofLog.message;
  if (error.reason === "MaxSteps")
    return "The agent used all its steps without an answer. Allow it more with --max-steps.";
  if (error.reason.startsWith("Budget"))
    return "The agent used all its tokens without an answer. Allow it more with --max-tokens.";
  if (error.kind !== "LlmError") return `The agent failed. ${quoted}`;
  if (error.reason === "invalid-request" && saysNoModel(error.message, chosen.model))
    return `${chosen.provider.name} does not know the model ${chosen.model}. Name another one with --model.`;
  const words = Object.hasOwn(ofModel, error.reason) ? ofModel[error.reason] : undefined;
  return (words?.(chosen, quoted) ?? `${chosen.provider.name} did not answer. ${quoted}`).trim();
}

/** Providers say it in their own words, but they all name the model, or the word. */
const saysNoModel = (message: string, model: string): boolean =>
  model !== "" &&
  /\bmodel\b/i.test(message) &&
  /not[ _]?found|not exist|unknown|invalid|no such|unsupported|not a valid/i.test(message);

function quote(message: string): string {
  const line = message
    .replaceAll(/\s+/g, " ")
    .replace(/^\d{3} /, "")
    .trim();
  return line.length <= maxQuoted ? line : `${line.slice(0, maxQuoted).toWellFormed()}...`;
}
