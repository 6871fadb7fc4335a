import { llmRequestAt } from "@moora/agent-core-effects";
import type { AgentState } from "@moora/agent-core-state-machine";
import type { LlmMessage, LlmRequest } from "@moora/llm";
import { assertLaw } from "./law-broken.ts";
import { requestProblems } from "./request-problems.ts";

/** Converts a request to a provider's own JSON and returns what that provider would refuse, in sentences. */
export type Dialect = (request: LlmRequest) => readonly string[];

/** The origin of the turns that a simulated model makes. */
export const simulatedOrigin = "simulated/model";

/** Dialects by name. */
export type Dialects = Readonly<Record<string, Dialect>>;

/** Holds a request to the rules that all providers share, and to each one's own. */
export function checkRequest(request: LlmRequest, dialects: Dialects, law: string): void {
  const [problem] = requestProblems(request);
  assertLaw(problem === undefined, law, () => `the request is not valid: ${problem}`);
  for (const [name, dialect] of Object.entries(dialects)) {
    const [refusal] = dialect(request);
    assertLaw(refusal === undefined, law, () => `${name} would refuse the request: ${refusal}`);
  }
}

/** A request, and what its beginning depends on. */
interface Asked {
  readonly request: LlmRequest;
  readonly horizon: string;
  readonly config: AgentState["config"];
  readonly tools: AgentState["tools"];
}

/**
 * L7: every request is valid, and within a window each begins with the one before: its system prompt, its tools, and its
 * messages. A prefix that changes costs the provider's cache.
 */
export class RequestLedger {
  #last: Asked | undefined;
  #key = "";
  readonly #dialects: Dialects;

  constructor(dialects: Dialects) {
    this.#dialects = dialects;
  }

  /** `key` is the model call that is wanted; its request was looked at when it was wanted first. */
  follow(state: AgentState, key: string): void {
    if (key === this.#key) return;
    this.#key = key;
    const request = llmRequestAt(state);
    if (request === undefined) return;
    checkRequest(request, this.#dialects, "L7");
    if (request.purpose === "reflect") return;
    const { config, tools } = state;
    const last = this.#last;
    const asked: Asked = { request, horizon: horizonAt(state), config, tools };
    this.#last = asked;
    if (last?.horizon === asked.horizon) checkPrefix(last, asked);
  }
}

function checkPrefix(last: Asked, { request, config, tools }: Asked): void {
  if (last.config === config && last.tools === tools) {
    assertLaw(
      request.system === last.request.system,
      "L7",
      () => "the system prompt differs from the last request",
    );
    assertLaw(
      request.tools === last.request.tools ||
        JSON.stringify(request.tools) === JSON.stringify(last.request.tools),
      "L7",
      () => "the tools differ from those of the last request",
    );
  }
  const { messages } = last.request;
  const kept = messages.filter((message, index) => !isTrailingContinueNote(messages, index, message));
  const broken = kept.findIndex((message, index) => !sameMessage(message, request.messages[index]));
  assertLaw(broken === -1, "L7", () => `message ${broken} of the last request has changed in this one`);
}

const sameMessage = (a: LlmMessage, b: LlmMessage | undefined): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b);

/** The one message without an entry in the transcript; what follows the answer may take its place. */
const isTrailingContinueNote = (
  messages: readonly LlmMessage[],
  index: number,
  message: LlmMessage,
): boolean => index === messages.length - 1 && message.role === "note" && message.text === "Go on.";

/** What may change the beginning of a request: the window, a summary, something withheld. */
function horizonAt({ transcript, reActContext: { windowStart, seen } }: AgentState): string {
  const visible = transcript.slice(0, seen);
  const summaries = visible.filter((entry) => entry.type === "summary").length;
  const withheld = visible.filter((entry) => entry.withheld === true).length;
  return `${windowStart}/${summaries}/${withheld}`;
}
