import { oneOf, optionForms, required, type OptionForm, type OptionForms } from "@moora/llm/adapter";
import type { ChatProfile } from "./chat-profile.ts";

const fields: OptionForms<ChatProfile> = {
  name: required(optionForms.string),
  baseURL: required(optionForms.secretString),
  keyName: optionForms.string,
  callIdFormat: optionForms.idFormat,
  nameFormat: optionForms.idFormat,
  tokenField: required(oneOf("max_tokens", "max_completion_tokens")),
  systemRole: required(oneOf("system", "developer")),
  noteRole: required(oneOf("system", "developer", "user")),
  requiresAlternation: required(optionForms.boolean),
  allowsUserAfterResults: required(optionForms.boolean),
  reasoningField: optionForms.string,
  requiresReasoning: optionForms.boolean,
  fileLimits: optionForms.object,
  strict: required(oneOf(true, false, "off")),
  answerFormat: required(oneOf("always", "without-tools", "never")),
  acceptsPdf: required(optionForms.boolean),
  acceptsIdempotencyKey: required(optionForms.boolean),
  fields: required(optionForms.object),
};

/** The form of the option `profile`. */
export const profileForm: OptionForm = {
  ...optionForms.object,
  expectation: "a profile such as chatProfiles.ollama",
  fields,
};
