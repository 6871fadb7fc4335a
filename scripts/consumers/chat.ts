/** A page with a chat of the AI SDK, which has the types of its tools. */
import { readAgentChat, useAgentChat, type AgentChatError, type StoredChat } from "@moora/react/ai-sdk";
import type { UIMessage } from "ai";

type Message = UIMessage<
  { readonly session: string },
  never,
  { pay: { input: { cents: number }; output: string } }
>;

const address = { api: "/agents/helper/chat", id: "chat-1" } as const;

export const read = (): Promise<StoredChat<Message>> => readAgentChat<Message>(address);

/** What was paid, in cents. */
export function usePaid({ messages: stored }: StoredChat<Message>): readonly number[] {
  const { messages } = useAgentChat<Message>({ ...address, messages: stored, onError: console.error });
  return messages.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      part.type === "tool-pay" && part.state === "output-available" ? [part.input.cents] : [],
    ),
  );
}

export const needsLogin = ({ status }: AgentChatError): boolean => status === 401;

// @ts-expect-error The messages are those that `readAgentChat` has read.
export const useNothing = (): object => useAgentChat(address);
