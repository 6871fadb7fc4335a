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

/** L7: every request is valid, and within a window each begins with the one before. */
export class RequestLedger {
  private last: { readonly messages: readonly LlmMessage[]; readonly horizon: string } | undefined;
  private key = "";
  private readonly dialects: Dialects;

  constructor(dialects: Dialects) {
    this.dialects = dialects;
  }

  /** `key` is the model call that is wanted; its request was looked at when it was wanted first. */
  follow(state: AgentState, key: string): void {
    if (key === this.key) return;
    this.key = key;
    const request = llmRequestAt(state);
    if (request === undefined) return;
    checkRequest(request, this.dialects, "L7");
    if (request.purpose === "reflect") return;
    const horizon = horizonAt(state);
    const { last } = this;
    this.last = { messages: request.messages, horizon };
    if (last?.horizon !== horizon) return;
    const kept = last.messages.filter((message, index) => !isTrailingGoOn(last.messages, index, message));
    const broken = kept.findIndex((message, index) => !sameMessage(message, request.messages[index]));
    assertLaw(broken === -1, "L7", () => `message ${broken} of the last request is another one in this`);
  }
}

const sameMessage = (a: LlmMessage, b: LlmMessage | undefined): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b);

/** The one message without an entry in the transcript; what follows the answer may take its place. */
const isTrailingGoOn = (messages: readonly LlmMessage[], index: number, message: LlmMessage): boolean =>
  index === messages.length - 1 && message.role === "note" && message.text === "Go on.";

/** What may change the beginning of a request: the window, a summary, something withheld. */
function horizonAt({ transcript, reActContext: { windowStart, seen } }: AgentState): string {
  const visible = transcript.slice(0, seen);
  const summaries = visible.filter((entry) => entry.type === "summary").length;
  const withheld = visible.filter((entry) => entry.withheld === true).length;
  return `${windowStart}/${summaries}/${withheld}`;
}
