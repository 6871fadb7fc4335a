import { effectsAt, type AgentState, type Question, type Session } from "@moora/agent";
import { refusalWithoutReviewer } from "@moora/agent/internal";
import { isHeld } from "@moora/agent-core-effects/internal";
import { isLoopRunning, isPaused } from "@moora/agent-core-state-machine";
import { noReviewer, toolOf } from "@moora/agent-core-state-machine/internal";
import type { Screen } from "../terminal/screen.ts";
import type { QuestionPrompt } from "./question-prompt.ts";

interface RunQuestionsParts {
  readonly session: Session<unknown>;
  readonly screen: Screen;
  readonly prompt: QuestionPrompt;
  /** Under which name decisions are recorded. */
  readonly by: string;
  /** Whether questions can be asked here. */
  readonly canAsk: boolean;
  /** Whether another process can decide questions that are not decided here. */
  readonly isDurable: boolean;
}

/** The questions of a run: asked here, left open for another process, or rejected in a session in memory. */
export class RunQuestions {
  readonly #parts: RunQuestionsParts;
  readonly #announced = new Set<string>();
  #canAsk: boolean;
  #onLeftOpen: () => void = () => undefined;
  #hasRejected = false;

  constructor(parts: RunQuestionsParts) {
    this.#parts = parts;
    this.#canAsk = parts.canAsk;
  }

  /** Whether a person is here who answers, and waits. */
  get canAsk(): boolean {
    return this.#canAsk;
  }

  /** Whether a question was rejected because it could not be asked. */
  get hasRejected(): boolean {
    return this.#hasRejected;
  }

  /** Resolves when the run waits only for decisions that cannot be made here, or for the resume of a paused session. */
  leftOpen(): Promise<"left-open"> {
    return new Promise((resolve) => (this.#onLeftOpen = () => resolve("left-open")));
  }

  /** Handles a question of the run. `over` aborts when the run has ended, `interrupt` is called for Ctrl-C. */
  ask(question: Question, over: AbortSignal, interrupt: () => void): void {
    this.#announced.add(keyOf(question));
    if (!this.#canAsk) return this.#cannotAsk(question);
    const { session, prompt, by } = this.#parts;
    prompt.ask(question, this.#whileOpen(question, over), {
      decide: (asked, decision) => session.decide(asked, decision, by),
      isOpen: (asked) => isOpen(session, asked),
      interrupt,
      inputEnded: () => {
        this.#canAsk = false;
        this.#cannotAsk(question);
      },
    });
  }

  /** Checks whether the run waits for anything else. Call it after each event of the run. */
  check(): void {
    if (this.#canAsk || !this.#parts.isDurable) return;
    const { session } = this.#parts;
    if (!onlyWaits(session.current())) return;
    if (session.questions().every((question) => this.#announced.has(keyOf(question)))) this.#onLeftOpen();
  }

  /** A session in memory cannot be answered by another process: the question is rejected. */
  #cannotAsk(question: Question): void {
    const { about, name, path } = question;
    const { session, screen, isDurable } = this.#parts;
    // The commands of this program decide the questions of a session, not those of its sub-agents.
    if (isDurable && path === undefined) return this.check();
    const isPolicy = about === "approval" && toolOf(session.current(), name)?.approval !== "always";
    const advice = `Use ${isPolicy ? "--approve never, " : ""}--approve-from-stdin or --session ID.`;
    screen.line(`No terminal to ask on: the call of ${name} is rejected. ${advice}`);
    this.#hasRejected = true;
    void session.decide(question, refusalWithoutReviewer(question), noReviewer.by).catch(() => undefined);
  }

  /** Aborted when the question is answered, here or elsewhere, and when the run is over. */
  #whileOpen(question: Question, over: AbortSignal): AbortSignal {
    const { session } = this.#parts;
    const closed = new AbortController();
    const look = (): void => {
      if (!isOpen(session, question)) closed.abort();
    };
    const stops = [
      session.onInput(look),
      session.onEvent(({ type }) => (type === "SubAgentEvent" ? look() : undefined)),
    ];
    over.addEventListener("abort", () => stops.forEach((stop) => stop()), { once: true });
    look();
    return AbortSignal.any([over, closed.signal]);
  }
}

const keyOf = ({ toolCallId, digest, path = [] }: Question): string =>
  [...path, toolCallId, digest].join("/");

/** Whether exactly this question is open. */
const isOpen = (session: Session<unknown>, question: Question): boolean =>
  session.questions().some((asked) => keyOf(asked) === keyOf(question));

/** Whether a loop is in progress in which nothing happens before a person decides, or resumes the session. */
function onlyWaits(state: AgentState): boolean {
  const paused = isPaused(state);
  const effects = Object.values(effectsAt(state));
  return (
    isLoopRunning(state) &&
    (paused || effects.some(({ type }) => type === "ask-human")) &&
    effects.every(
      (effect) =>
        effect.type === "ask-human" || effect.type === "wait-until" || (paused && isHeld(effect, state)),
    )
  );
}
