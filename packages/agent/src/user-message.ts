import { shownValue } from "@moora/agent-core-effects/internal";
import type { AgentAttachment, UserMessageInput } from "@moora/agent-core-state-machine";
import { InputRefused } from "./session/session.ts";

/** What a user says: text, or text with files by reference. */
export type UserContent =
  | string
  | { readonly content: string; readonly attachments?: readonly AgentAttachment[] };

/** Why a value is not the content of a message; undefined where it is. */
export function contentProblem(
  said: unknown,
): { readonly code: "wrong-shape"; readonly path: string; readonly message: string } | undefined {
  const code = "wrong-shape";
  if (typeof said === "string") return undefined;
  if (typeof said !== "object" || said === null || !("content" in said)) {
    const expected = "a string or an object { content, attachments }";
    return { code, path: "content", message: `must be ${expected}, got ${shownValue(said)}.` };
  }
  if (typeof said.content === "string") return undefined;
  return { code, path: "content.content", message: `must be a string, got ${shownValue(said.content)}.` };
}

/** A new id, of 96 random bits: it is data of an input, and decides nothing. */
export function randomId(prefix: string): string {
  let id = `${prefix}_`;
  for (let word = 0; word < 3; word += 1) id += randomWord().toString(16).padStart(8, "0");
  return id;
}

/** Random words in store: asking for many at once costs little more than asking for one. */
const store = new Uint32Array(96);
let used = store.length;

function randomWord(): number {
  if (used === store.length) {
    crypto.getRandomValues(store);
    used = 0;
  }
  return store[used++] ?? 0;
}

/**
 * The input for what a user says. Text is made well-formed: half a character that a host cut is replaced. Throws
 * `InputRefused` for what is neither text nor an object with text.
 */
export function userMessage(
  said: UserContent,
  { messageId = randomId("user"), timestamp = Date.now() }: { messageId?: string; timestamp?: number } = {},
): UserMessageInput {
  const problem = contentProblem(said);
  if (problem !== undefined) throw new InputRefused(problem);
  const { content, attachments } =
    typeof said === "string" ? { content: said, attachments: undefined } : said;
  return {
    type: "user-message-received",
    messageId,
    content: content.toWellFormed(),
    ...(attachments === undefined ? {} : { attachments }),
    timestamp,
  };
}
