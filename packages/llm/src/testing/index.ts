export { ConformanceError } from "./conformance/scene.ts";
export type {
  ConformanceSubject,
  HarnessSetup,
  HarnessTarget,
  LlmFeature,
  LlmHarness,
  ScriptedAnswer,
  ScriptedCall,
  ScriptedError,
  ServerBehavior,
} from "./conformance/harness.ts";
export { llmConformance } from "./conformance/llm-conformance.ts";
export { chatRequestProblem, mistralRules, type ChatServerRules } from "./dialects/chat-rules.ts";
export { geminiRequestProblem } from "./dialects/gemini-rules.ts";
export { messagesRequestProblem, signatureOf } from "./dialects/messages-rules.ts";
export { encryptedContentOf, responsesRequestProblem } from "./dialects/responses-rules.ts";
export { schemaProblems } from "./dialects/schema-rules.ts";
export { hasIllFormedText } from "./dialects/wire-rules.ts";
export { hangs, MockLlmCaller, type MockHang, type MockScript, type MockStep } from "./mock-llm-caller.ts";
export {
  answers,
  callsTools,
  fails,
  mockOrigin,
  type AnswerDetails,
  type ScriptedToolCall,
} from "./outcomes.ts";
export { openHarness } from "./server/open-harness.ts";
export { ProtocolServer } from "./server/protocol-server.ts";
export { recordingFetch, type Recording } from "./server/recording-fetch.ts";
export {
  calledToolName,
  serverSentEvent,
  type ServerDialect,
  type ServerEvent,
} from "./server/server-dialect.ts";
