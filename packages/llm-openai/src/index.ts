export { openai, OpenAiCaller, type OpenAiOptions } from "./openai-caller.ts";
export { requestToOpenAi } from "./request-to-openai.ts";
