import { fileForms, optionsProblem, shownValue } from "@moora/agent-core-effects/internal";
import type { AgentAttachment, UserMessageInput } from "@moora/agent-core-state-machine";
import type { OptionForms } from "./check-options.ts";
import { checkArgument, noPlace } from "./session/session-arguments.ts";
import { InputRefused } from "./session/session.ts";

/** The content of a user message: a text, or a text with files by reference. */
export type UserContent =
  | string
  | { readonly content: string; readonly attachments?: readonly AgentAttachment[] };

interface Problem {
  readonly code: "wrong-shape";
  readonly path: string;
  readonly message: string;
}

/** The problem of an invalid message content; undefined for a valid one. */
export function contentProblem(userContent: unknown): Problem | undefined {
  const code = "wrong-shape";
  if (typeof userContent === "string") return undefined;
  if (typeof userContent !== "object" || userContent === null || !("content" in userContent)) {
    const expected = "a string or an object { content, attachments }";
    return { code, path: "content", message: `must be ${expected}, got ${shownValue(userContent)}.` };
  }
  if (typeof userContent.content !== "string") {
    const got = shownValue(userContent.content);
    return { code, path: "content.content", message: `must be a string, got ${got}.` };
  }
  const problem = optionsProblem("a message", userContent, contentForms, { placeOf: noPlace });
  return problem === undefined ? undefined : { ...problem, code, path: `content.${problem.path}` };
}

const contentForms: OptionForms<Exclude<UserContent, string>> = {
  content: "string",
  attachments: { expectation: "a list of files", fits: Array.isArray, fields: fileForms },
};

const messageForms: OptionForms<NonNullable<Parameters<typeof userMessage>[1]>> = {
  messageId: "string",
  timestamp: { expectation: "a number", fits: Number.isFinite },
};

/** A new id: the prefix and 96 random bits. */
export function randomId(prefix: string): string {
  let id = `${prefix}_`;
  for (let word = 0; word < 3; word += 1) id += randomWord().toString(16).padStart(8, "0");
  return id;
}

/** A buffer of random words: filling it at once is much cheaper than one request for each word. */
const randomWords = new Uint32Array(96);
let used = randomWords.length;

function randomWord(): number {
  if (used === randomWords.length) {
    crypto.getRandomValues(randomWords);
    used = 0;
  }
  return randomWords[used++] ?? 0;
}

/**
 * Creates the input for a user message. Lone surrogates in the text are replaced. `messageId` defaults to a random id,
 * `timestamp` to the current time in milliseconds since 1970. Throws `InputRefused` for a content that is neither a
 * string nor an object with `content`, and for invalid options.
 */
export function userMessage(
  userContent: UserContent,
  options: { messageId?: string; timestamp?: number } = {},
): UserMessageInput {
  const problem = contentProblem(userContent);
  if (problem !== undefined) throw new InputRefused(problem);
  checkArgument("options", "userMessage", options, messageForms);
  const { messageId = randomId("user"), timestamp = Date.now() } = options;
  const { content, attachments } =
    typeof userContent === "string" ? { content: userContent, attachments: undefined } : userContent;
  return {
    type: "user-message-received",
    messageId,
    content: content.toWellFormed(),
    ...(attachments === undefined ? {} : { attachments }),
    timestamp,
  };
}
