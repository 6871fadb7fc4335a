import type { AgentMessage } from "@moora/agent";

/** The number of exchanges that are shown: a message of the user and its answer. */
const maxExchanges = 3;
/** Characters of each message that are shown. */
const maxCharacters = 1_000;

export interface RecentMessages {
  /** How many messages came before those that are shown. */
  readonly earlier: number;
  readonly shown: readonly Pick<AgentMessage, "role" | "content">[];
}

/** The last exchanges of a conversation. `isInProgress`: the last message of the user is not answered yet, and is left out. */
export function recentMessages(messages: readonly AgentMessage[], isInProgress: boolean): RecentMessages {
  const end = isInProgress ? messages.findLastIndex(({ role }) => role === "user") : messages.length;
  const visible = messages
    .slice(0, Math.max(0, end))
    .filter(({ content, status }) => content !== "" && status !== "dropped");
  const begins = visible.flatMap(({ role }, index) => (role === "user" ? [index] : []));
  const start = begins.at(-maxExchanges) ?? 0;
  return {
    earlier: start,
    shown: visible.slice(start).map(({ role, content }) => ({ role, content: truncated(content) })),
  };
}

const truncated = (text: string): string =>
  text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters).toWellFormed()}...`;
