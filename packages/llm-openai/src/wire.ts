// Apart from the index, because the types of the SDK are part of these: the index can be used without the SDK.
export { requestToChat } from "./request-to-chat.ts";
export { requestToOpenAi } from "./request-to-openai.ts";
