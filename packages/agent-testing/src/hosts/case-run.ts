import {
  decisionToInput,
  effectsAt,
  effectToQuestion,
  userMessage,
  type AgentInput,
  type AgentState,
  type Decision,
  type Question,
} from "@moora/agent";
import type { PreparedHost, ProcessOptions } from "./host.ts";
import { HostNotConforming, type HostScenario, type HostStep } from "./host-case.ts";
import type { RecordedWorld } from "./world.ts";

/** The id of the session of each case. */
export const caseSession = "case";

/** The id of a second session, which shows that the host runs other sessions, and that sessions share no keys or decisions. */
export const witnessSession = "witness";

/** One run of a scenario on a prepared host: what its steps share. */
export class CaseRun {
  readonly world: RecordedWorld;
  readonly host: PreparedHost;
  /** The number of messages of the case. */
  asked = 0;
  /** How many of them a session had that was removed. */
  removed = 0;
  /** A decision on the question of that session. */
  removedDecision: AgentInput | undefined;
  /** The number of messages of the witness. */
  witnesses = 0;
  /** How often work had begun when the session was paused. */
  begunAtPause = 0;
  readonly #processOptions: ProcessOptions;
  readonly #streamed: string[] = [];
  /** Resolves when the process has died by itself; undefined if it will not. */
  #died: Promise<void> | undefined;

  constructor(world: RecordedWorld, host: PreparedHost, processOptions: ProcessOptions = {}) {
    this.world = world;
    this.host = host;
    this.#processOptions = processOptions;
  }

  get streamed(): string {
    return this.#streamed.join("");
  }

  async run({ steps, needs }: HostScenario): Promise<void> {
    await this.#start();
    if (needs.includes("stream"))
      await this.host.watch?.(caseSession, (text) => void this.#streamed.push(text));
    for (const step of steps) await this.#survive(step);
  }

  async #start(): Promise<void> {
    if (this.#processOptions.death === undefined) return this.host.start();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#died = promise;
    await this.host.start({ ...this.#processOptions, onDeath: resolve });
  }

  /** Runs a step. If the process dies in it by itself, another one is started, and the step is run again. */
  async #survive(step: HostStep): Promise<void> {
    const died = this.#died?.then(() => true);
    if (died === undefined) return step(this, false);
    const hasDied = await Promise.race([died, Promise.resolve(step(this, false)).then(() => false)]);
    if (!hasDied) return;
    this.#died = undefined;
    await this.host.start();
    await step(this, true);
  }

  now(): number {
    return this.host.clock?.now() ?? Date.now();
  }

  /** The message with the number `asked`. */
  message(text: string): AgentInput {
    return userMessage(text, { messageId: `m${this.asked}`, timestamp: this.now() });
  }

  async until(isReached: (state: AgentState) => boolean): Promise<AgentState> {
    return await this.host.waitFor(caseSession, isReached);
  }

  /** A decision on the question of the session, when that asks one. */
  async decision(decision: Decision): Promise<AgentInput> {
    const question = questionAt(await this.until(hasQuestion));
    if (question === undefined) throw new HostNotConforming("The session asks no question.");
    return decisionToInput(question, decision, { by: "reviewer", timestamp: this.now() });
  }

  /** Posts a message to the witness, and waits until that is as `isReached` says; default: until it has answered. */
  async askWitness(
    text: string,
    isReached = (state: AgentState): boolean => hasEnded(state, this.witnesses),
  ): Promise<void> {
    this.witnesses += 1;
    const input = userMessage(text, { messageId: `w${this.witnesses}`, timestamp: this.now() });
    await this.host.post(witnessSession, input);
    await this.host.waitFor(witnessSession, isReached);
  }
}

function questionAt(state: AgentState): Question | undefined {
  const asks = Object.values(effectsAt(state)).find((effect) => effect.type === "ask-human");
  return asks?.type === "ask-human" ? effectToQuestion(asks, state) : undefined;
}

/** Whether the session asks a person. */
export const hasQuestion = (state: AgentState): boolean => questionAt(state) !== undefined;

/** Whether nothing is left to do: the session has all messages, and its loop has ended. */
export const hasEnded = (state: AgentState, messages: number): boolean =>
  state.messages.filter(({ role }) => role === "user").length >= messages &&
  Object.keys(effectsAt(state)).length === 0 &&
  (state.reActContext.control.type === "Done" || state.reActContext.control.type === "Error");
