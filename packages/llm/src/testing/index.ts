export {
  answers,
  callsTools,
  fails,
  mockOrigin,
  type AnswerDetails,
  type ScriptedToolCall,
} from "./outcomes.ts";
export { hangs, MockLlmCaller, type MockHang, type MockScript, type MockStep } from "./mock-llm-caller.ts";
