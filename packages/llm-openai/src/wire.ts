// A separate entry, because these functions use types of the SDK, and the index must compile without the SDK.
export { requestToChat } from "./request-to-chat.ts";
export { requestToOpenAi } from "./request-to-openai.ts";
