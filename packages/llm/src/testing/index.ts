export {
  answers,
  callsTools,
  fails,
  mockOrigin,
  type AnswerDetails,
  type ScriptedToolCall,
} from "./outcomes.ts";
export { hangs, MockLlmCaller, type MockHang, type MockScript, type MockStep } from "./mock-llm-caller.ts";
export { ConformanceError } from "./conformance/check.ts";
export type {
  ConformanceSubject,
  HarnessSetup,
  HarnessTarget,
  LlmFeature,
  LlmHarness,
  ScriptedAnswer,
  ScriptedCall,
  ScriptedError,
  ServerBehaviour,
} from "./conformance/harness.ts";
export { llmConformance } from "./conformance/llm-conformance.ts";
export { chatRefusal, mistralStrictness, type ChatStrictness } from "./dialects/chat-rules.ts";
export { messagesRefusal, signatureOf } from "./dialects/messages-rules.ts";
export { encryptedContentOf, responsesRefusal } from "./dialects/responses-rules.ts";
export { hasIllFormedText } from "./dialects/wire-rules.ts";
