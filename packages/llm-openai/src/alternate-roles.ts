import { placeholders } from "@moora/llm/adapter";
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionContentPart,
  ChatCompletionMessageParam,
  ChatCompletionUserMessageParam,
} from "openai/resources/chat/completions";
import type { ChatProfile } from "./chat-profile.ts";

const user = (content: string): ChatCompletionMessageParam => ({ role: "user", content });

/**
 * Orders a conversation by the rules of a server: merges neighbors of one role and adds placeholders. What is added depends
 * only on the messages before it.
 */
export function alternateRoles(
  messages: readonly ChatCompletionMessageParam[],
  profile: ChatProfile,
): ChatCompletionMessageParam[] {
  const ordered: ChatCompletionMessageParam[] = [];
  for (const message of messages) {
    const last = ordered.at(-1);
    const merged = profile.requiresAlternation ? mergeMessages(last, message) : undefined;
    if (merged) {
      ordered.splice(-1, 1, merged);
      continue;
    }
    if (message.role === "user" && last?.role === "tool" && !profile.allowsUserAfterResults)
      ordered.push({ role: "assistant", content: "I have the results." });

    if (message.role === "assistant" && last === undefined && profile.requiresAlternation)
      ordered.push(user(placeholders.first));

    ordered.push(message);
  }
  if (profile.requiresAlternation && ordered.at(-1)?.role === "assistant")
    ordered.push(user(placeholders.next));
  return ordered;
}

/** Merges two neighbors of one role. Undefined if they cannot be merged. */
function mergeMessages(
  last: ChatCompletionMessageParam | undefined,
  next: ChatCompletionMessageParam,
): ChatCompletionMessageParam | undefined {
  if (last?.role === "user" && next.role === "user") return { ...last, content: joinContent(last, next) };
  if (last?.role === "assistant" && next.role === "assistant" && !last.tool_calls) {
    const content = [textOf(last), textOf(next)].filter((text) => text !== "").join("\n\n");
    return { ...last, ...next, content: content === "" ? null : content };
  }
  return undefined;
}

function joinContent(
  a: ChatCompletionUserMessageParam,
  b: ChatCompletionUserMessageParam,
): string | ChatCompletionContentPart[] {
  if (typeof a.content === "string" && typeof b.content === "string") return `${a.content}\n\n${b.content}`;
  return [a, b].flatMap(({ content }) =>
    typeof content === "string" ? [{ type: "text", text: content }] : content,
  );
}

const textOf = ({ content }: ChatCompletionAssistantMessageParam): string =>
  typeof content === "string" ? content : "";
