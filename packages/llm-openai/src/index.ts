export { chatProfiles, type ChatField, type ChatProfile, type ChatProfileName } from "./chat-profile.ts";
export { openai, OpenAiCaller, type OpenAiOptions } from "./openai-caller.ts";
export { openaiChat, OpenAiChatCaller, type OpenAiChatOptions } from "./openai-chat-caller.ts";
