import type {
  Guardrail,
  GuardrailAnswerVerdict,
  GuardrailCheck,
  GuardrailContext,
  LateDecision,
  StateContext,
  StateDecision,
} from "@moora/agent-core-effects";
import { errorText } from "@moora/agent-core-effects/internal";
import { isPaused, type AgentState, type Replacement } from "@moora/agent-core-state-machine";
import type { Item, Place } from "./items.ts";

/** Where a loop is led that does not continue as it would, from the strongest verdict. */
const endEvents = { failed: "HandlerFailed", block: "Blocked", retry: "AnswerInvalid" } as const;

/** What the checks of one state have said. */
export class Findings {
  readonly #replaced: Replacement[] = [];
  readonly #notes: string[] = [];
  readonly #reasons: Partial<Record<keyof typeof endEvents, string>> = {};
  readonly #asks: string[] = [];
  /** The text of an item after its replacements. */
  readonly #texts = new Map<Item, string>();
  readonly #given: Omit<GuardrailContext, "files" | "call">;

  constructor(state: AgentState, { signal, idempotencyKey, attempt, now, callTool }: StateContext) {
    this.#given = { state, signal, idempotencyKey, attempt, now, callTool };
  }

  /** Whether a person is asked. What is blocked or answered again is not. */
  get asks(): boolean {
    return this.#asks.length > 0 && this.#end === undefined;
  }

  get #end(): keyof typeof endEvents | undefined {
    return (["failed", "block", "retry"] as const).find((end) => this.#reasons[end] !== undefined);
  }

  /** Checks an item in each of its places, unless the loop ends already. */
  async add(guardrail: Guardrail, item: Item): Promise<void> {
    const { name } = guardrail;
    for (const place of item.places) {
      const check: GuardrailCheck<GuardrailAnswerVerdict> | undefined = guardrail[place];
      const hasEnded = this.#reasons.failed !== undefined || this.#reasons.block !== undefined;
      if (check === undefined || hasEnded) continue;
      try {
        const said = await check(this.#texts.get(item) ?? item.text, { ...item.about, ...this.#given });
        // Callers without types may return null.
        if (said != null) this.#take(name, item, verdictOf(said, place));
      } catch (error) {
        this.#fail(name, item, place, errorText(error));
      }
    }
  }

  #take(name: string, item: Item, [kind, text]: readonly [Kind, string]): void {
    this.#notes.push(`${name}: ${kind}`);
    const reason = `${name}: ${text}`;
    if (kind === "replace") return this.#replace(item, text.trim() === "" ? `[removed by ${name}]` : text);
    if (kind === "ask")
      return item.isRefused ? this.#replace(item, `[${reason}]`) : void this.#asks.push(reason);
    this.#replace(item, `[${reason}]`);
    if (!item.isEarlier) this.#reasons[kind] ??= reason;
  }

  /** What could not be checked ends its loop. What would not be checked again, or would end each later loop, is replaced. */
  #fail(name: string, item: Item, place: Place, error: string): void {
    if (item.isEarlier || place === "answer") this.#replace(item, `[${name}: The check has failed.]`);
    if (!item.isEarlier) this.#reasons.failed = `${name}: ${error}`;
  }

  #replace(item: Item, content: string): void {
    this.#texts.set(item, content);
    this.#replaced.push(item.replacedBy(content));
  }

  /** The decision with which the state is left by an event, unless a verdict leads elsewhere. Nothing of it applies to a state that has changed. */
  decision(eventAt: (state: AgentState) => string): LateDecision {
    const said = {
      ...(this.#replaced.length === 0 ? {} : { replaced: this.#replaced }),
      ...(this.#notes.length === 0 ? {} : { trace: { text: this.#notes.join("; ") } }),
    };
    const end = this.#end;
    const at = (state: AgentState): StateDecision => {
      const event = eventAt(state);
      // A person who has paused the session has not seen what is asked: the check comes again after that pause.
      if (event === "CheckAgain" || (this.asks && isPaused(state)))
        return event === "AskedPerson" ? "AskAgain" : "CheckAgain";
      const reason = end === undefined ? undefined : this.#reasons[end];
      if (end === "retry") return { event: endEvents.retry, note: reason ?? "", ...said };
      if (end !== undefined) return { event: endEvents[end], reason: reason ?? "", ...said };
      return this.asks ? { event, pause: this.#asks.join("; "), ...said } : { event, ...said };
    };
    return { at, mayPause: this.asks };
  }
}

type Kind = "replace" | "block" | "ask" | "retry";

/** Throws `TypeError` for what is not a verdict: callers without types may return anything. */
function verdictOf(said: GuardrailAnswerVerdict, place: Place): readonly [Kind, string] {
  const kinds: readonly Kind[] =
    place === "answer" ? ["replace", "block", "ask", "retry"] : ["replace", "block", "ask"];
  for (const kind of kinds) {
    const text: unknown = Reflect.get(said, kind);
    if (typeof text === "string") return [kind, text];
  }
  throw new TypeError(
    `A check of this place returns ${kinds.map((kind) => `{ ${kind} }`).join(", ")} with a text, or nothing.`,
  );
}
