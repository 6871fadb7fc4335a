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
import { postAtOnce, postIgnored, postRefused } from "./inapplicable-inputs.ts";
import type { RecordedWorld } from "./world.ts";

/** The id of the session of each case. */
export const caseSession = "case";

/** The id of a second session, which shows that the host runs other sessions, and that sessions share no keys or decisions. */
const witnessSession = "witness";

/** The model calls of that session for each message: the first one fails. */
export const witnessCalls = 2;

/** One run of a scenario on a prepared host. */
export class CaseRun {
  readonly world: RecordedWorld;
  readonly host: PreparedHost;
  readonly #processOptions: ProcessOptions;
  readonly #streamed: string[] = [];
  #messages = 0;
  /** How many of them a session had that was removed. */
  #removedMessages = 0;
  /** A decision on the question of that session. */
  #removedDecision: AgentInput | undefined;
  /** How often work had begun when the session was paused. */
  #begunAtPause = 0;
  #witnesses = 0;
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
    if (needs.includes("stream")) await this.#watch();
    for (const step of steps) await this.#survive(step);
  }

  /** Runs a step. If the process dies in it by itself, another one is started, and the step is run again. */
  async #survive(step: HostStep): Promise<void> {
    const died = this.#died?.then(() => true);
    if (died === undefined) return this.#step(step);
    const hasDied = await Promise.race([died, this.#step(step).then(() => false)]);
    if (!hasDied) return;
    this.#died = undefined;
    await this.host.start();
    await this.#step(step, true);
  }

  async #start(): Promise<void> {
    if (this.#processOptions.death === undefined) return this.host.start();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#died = promise;
    await this.host.start({ ...this.#processOptions, onDeath: resolve });
  }

  async #watch(): Promise<void> {
    await this.host.watch?.(caseSession, (text) => void this.#streamed.push(text));
  }

  // oxlint-disable-next-line max-lines-per-function -- one row for each type of step
  async #step(step: HostStep, isAgain = false): Promise<void> {
    switch (step.type) {
      case "ask":
        return this.#ask(step.message, step.from, isAgain);
      case "ask-both": {
        const [here, elsewhere] = step.messages;
        await Promise.all([this.#ask(here), this.#ask(elsewhere, "elsewhere")]);
        return;
      }
      case "ask-at-once":
        return this.#askAtOnce(step.message, step);
      case "post-ignored":
        return postIgnored(this.#target(), `m${this.#messages}`);
      case "post-refused":
        return postRefused(this.#target());
      case "decide":
        return postAtOnce(this.#target(), await this.#decision(step.decision), step);
      case "cancel":
        return this.#post({ type: "re-act-cancelled", timestamp: this.#now() });
      case "pause":
        this.#begunAtPause = this.world.begun;
        return this.#post({ type: "session-paused", timestamp: this.#now() });
      case "nothing-begins":
        return this.#nothingBegins();
      case "ask-other":
        return this.#askOther(step.message, (state) => hasEnded(state, this.#witnesses));
      case "decide-other":
        return this.#decideOther(step.message);
      case "remove":
        return this.#remove();
      case "decide-removed":
        return this.#decideRemoved();
      case "resume":
        return this.#post({ type: "session-resumed", timestamp: this.#now() });
      case "hold":
        return this.world.hold(step);
      case "release-all":
        return this.world.releaseAll();
      case "reach":
        return this.world.reached(step, step.times);
      case "reported":
        return this.#until((state) => isReported(state, step.tool));
      case "question":
        return this.#until((state) => questionAt(state) !== undefined);
      case "end":
        return this.#until((state) => hasEnded(state, this.#messages - this.#removedMessages));
      case "restart":
        await this.host.kill?.();
        if (step.afterMs !== undefined) await this.host.clock?.pass(step.afterMs);
        return this.host.start({ release: step.release });
      case "take-over":
        return this.host.takeOver?.();
      case "pass":
        return this.host.clock?.pass(step.ms);
    }
  }

  /** Asks. A repeated message of a process that died has the id of the first, and may have been accepted already. */
  async #ask(message: string, from?: "elsewhere", isAgain = false): Promise<void> {
    if (!isAgain) this.#messages += 1;
    const input = userMessage(message, { messageId: `m${this.#messages}`, timestamp: this.#now() });
    const hasApplied = await this.host.post(caseSession, input, from);
    if (!hasApplied && !isAgain) throw new HostNotConforming(`The message "${message}" did not apply.`);
  }

  async #askAtOnce(message: string, times: Parameters<typeof postAtOnce>[2]): Promise<void> {
    this.#messages += 1;
    const input = userMessage(message, { messageId: `m${this.#messages}`, timestamp: this.#now() });
    await postAtOnce(this.#target(), input, times);
  }

  #target(): Parameters<typeof postAtOnce>[0] {
    return { host: this.host, id: caseSession, timestamp: this.#now() };
  }

  async #remove(): Promise<void> {
    const state = await this.host.waitFor(caseSession, () => true);
    if (questionAt(state) !== undefined) this.#removedDecision = await this.#decision("approve");
    this.#removedMessages = this.#messages;
    await this.host.remove?.(caseSession);
  }

  async #decideRemoved(): Promise<void> {
    const decision = this.#removedDecision;
    if (decision === undefined) throw new HostNotConforming("The removed session asked no question.");
    if (await this.host.post(caseSession, decision))
      throw new HostNotConforming("A decision on a question of a removed session applied in the next one.");
  }

  /** A decision on the question of the session, when that asks one. */
  async #decision(decision: Decision): Promise<AgentInput> {
    const question = questionAt(
      await this.host.waitFor(caseSession, (state) => questionAt(state) !== undefined),
    );
    if (question === undefined) throw new HostNotConforming("The session asks no question.");
    return decisionToInput(question, decision, { by: "reviewer", timestamp: this.#now() });
  }

  async #decideOther(message: string): Promise<void> {
    await this.#askOther(message, (state) => questionAt(state) !== undefined);
    const hasApplied = await this.host.post(witnessSession, await this.#decision("approve"));
    if (hasApplied)
      throw new HostNotConforming("A decision on a question of one session applied in another.");
  }

  /** Posts a message to the witness, and waits until that is as `isReached` says. */
  async #askOther(message: string, isReached: (state: AgentState) => boolean): Promise<void> {
    this.#witnesses += 1;
    const input = userMessage(message, { messageId: `w${this.#witnesses}`, timestamp: this.#now() });
    await this.host.post(witnessSession, input);
    await this.host.waitFor(witnessSession, isReached);
  }

  /** Checks that only the work of a witness has begun since the pause: another session, whose work takes a while. */
  async #nothingBegins(): Promise<void> {
    // The model fails for each text once in a process, and cases may share one.
    const message = `fail ${crypto.randomUUID()}`;
    await this.#askOther(message, (state) => hasEnded(state, this.#witnesses));
    const begun = this.world.begun - this.#begunAtPause - this.#witnesses * witnessCalls;
    if (begun !== 0) throw new HostNotConforming(`The session is paused, and work has begun ${begun} times.`);
  }

  async #post(input: AgentInput): Promise<void> {
    if (!(await this.host.post(caseSession, input)))
      throw new HostNotConforming(`The ${input.type} did not apply.`);
  }

  async #until(isReached: (state: AgentState) => boolean): Promise<void> {
    await this.host.waitFor(caseSession, isReached);
  }

  #now(): number {
    return this.host.clock?.now() ?? Date.now();
  }
}

function questionAt(state: AgentState): Question | undefined {
  const asks = Object.values(effectsAt(state)).find((effect) => effect.type === "ask-human");
  return asks?.type === "ask-human" ? effectToQuestion(asks, state) : undefined;
}

const isReported = (state: AgentState, tool: string): boolean =>
  Object.values(state.toolCalls).some(({ name, result }) => name === tool && result !== null);

/** Whether nothing is left to do: the session has all messages, and its loop has ended. */
const hasEnded = (state: AgentState, messages: number): boolean =>
  state.messages.filter(({ role }) => role === "user").length >= messages &&
  Object.keys(effectsAt(state)).length === 0 &&
  (state.reActContext.control.type === "Done" || state.reActContext.control.type === "Error");
