import { llmRequestAt } from "@moora/agent-core-effects";
import { ladderAt } from "@moora/agent-core-state-machine/internal";
import type { AgentState } from "@moora/agent-core-state-machine";
import type { LlmMessage, LlmRequest } from "@moora/llm";
import { assertLaw } from "./law-broken.ts";
import { requestProblems } from "./request-problems.ts";

/** Converts a request to the JSON of a provider, and returns the reasons why the provider would refuse it. */
export type Dialect = (request: LlmRequest) => readonly string[];

/** The origin of the turns that a simulated model makes. */
export const simulatedOrigin = "simulated/model";

/** Dialects by name. */
export type Dialects = Readonly<Record<string, Dialect>>;

/** Checks a request against the rules that all providers share and against those of each dialect. */
export function checkRequest(request: LlmRequest, dialects: Dialects, law: string): void {
  const [problem] = requestProblems(request);
  assertLaw(problem === undefined, law, () => `the request is not valid: ${problem}`);
  for (const [name, dialect] of Object.entries(dialects)) {
    const [refusal] = dialect(request);
    assertLaw(refusal === undefined, law, () => `${name} would refuse the request: ${refusal}`);
  }
}

/** A request, with the values that its beginning depends on. */
interface Asked {
  readonly request: LlmRequest;
  readonly horizon: string;
  readonly config: AgentState["config"];
  readonly tools: AgentState["tools"];
}

/**
 * L7: every request is valid, and within a window each extends the previous one: its system prompt, its tools, and its
 * messages. A changed prefix invalidates the provider's cache.
 */
export class RequestLedger {
  #last: Asked | undefined;
  #key = "";
  /** The length of the transcript when its context was first planned. */
  #plannedFrom: number | undefined;
  readonly #dialects: Dialects;

  constructor(dialects: Dialects) {
    this.#dialects = dialects;
  }

  /** A handler has replaced texts: the next request need not extend the last one. */
  replaced(): void {
    this.#last = undefined;
  }

  /** `key` is that of the wanted model call, whose request was checked when it was first wanted. */
  follow(state: AgentState, key: string): void {
    if (key === this.#key) return;
    this.#key = key;
    const request = llmRequestAt(state);
    if (request === undefined) return;
    checkRequest(request, this.#dialects, "L7");
    if (request.purpose === "reflect") return;
    this.#checkUnread(state);
    const { config, tools } = state;
    const last = this.#last;
    const asked: Asked = { request, horizon: horizonAt(state), config, tools };
    this.#last = asked;
    if (last?.horizon === asked.horizon) checkPrefix(last, asked);
  }

  /** A summary does not hide the newest turn, whose results the model has not read. Earlier releases made others. */
  #checkUnread(state: AgentState): void {
    const { transcript, config } = state;
    if (config.context === undefined) return;
    this.#plannedFrom ??= transcript.length;
    const newest = transcript.findLastIndex(({ type }) => type === "turn");
    const hides = transcript
      .slice(this.#plannedFrom)
      .some((entry) => entry.type === "summary" && newest >= entry.since && newest < entry.until);
    assertLaw(!hides, "L7", () => "a summary hides results that the model has not read");
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
        JSON.stringify(
          request.tools.slice(0, config.toolSearch === undefined ? undefined : last.request.tools.length),
        ) === JSON.stringify(last.request.tools),
      "L7",
      () => "the tools do not extend those of the last request",
    );
  }
  const { messages } = last.request;
  const kept = messages.filter((message, index) => !isTrailingContinueNote(messages, index, message));
  const broken = kept.findIndex((message, index) => !sameMessage(message, request.messages[index]));
  assertLaw(broken === -1, "L7", () => `message ${broken} of the last request has changed in this one`);
}

const sameMessage = (a: LlmMessage, b: LlmMessage | undefined): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b);

/** Whether a message is the note that has no entry in the transcript, which a later message may replace. */
const isTrailingContinueNote = (
  messages: readonly LlmMessage[],
  index: number,
  message: LlmMessage,
): boolean => index === messages.length - 1 && message.role === "note" && message.text === "Go on.";

/**
 * The values that may change the beginning of a request: the loop, if tools are found for it alone, the window, the results that are left out, the summaries, the withheld entries, the handoffs, and the rung of the
 * model. On the rung of earlier turns, each turn changes the one before.
 */
function horizonAt(state: AgentState): string {
  const { windowStart, seen, clearedUntil = 0, loopStart } = state.reActContext;
  const { toolSearch } = state.config;
  const foundFor = typeof toolSearch === "object" && toolSearch.keep === "loop" ? loopStart : 0;
  const ladder = ladderAt(state);
  const rung = JSON.stringify([ladder?.raw === "earlier" ? seen : ladder?.raw, ladder?.files]);
  const visible = state.transcript.slice(0, seen);
  const summaries = visible.filter((entry) => entry.type === "summary").length;
  const withheld = visible.filter((entry) => entry.withheld === true).length;
  const handoffs = visible.filter((entry) => entry.type === "handoff").length;
  return `${windowStart}/${clearedUntil}/${summaries}/${withheld}/${handoffs}/${foundFor}/${rung}`;
}
