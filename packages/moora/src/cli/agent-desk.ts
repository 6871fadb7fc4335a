import {
  AgentError,
  answerTextAt,
  failureToError,
  type AgentRun,
  type Question,
  type Session,
} from "@moora/agent";
import { ApprovalDesk } from "./approval-desk.ts";
import { chooseLlm, type ChosenLlm } from "./choose-llm.ts";
import { exitCodes, type CliHost, type ExitCode } from "./cli-host.ts";
import type { CommandCall } from "./command.ts";
import { begunLoop, openConversation, type BegunLoop, type Conversation } from "./conversation.ts";
import { errorToExitCode, errorToWords } from "./error-to-words.ts";
import { JsonView } from "./json-view.ts";
import { Interrupts } from "./interrupts.ts";
import { Lines, type LineRead } from "./lines.ts";
import { oneLine } from "./one-line.ts";
import type { RunView } from "./run-view.ts";
import { Screen } from "./screen.ts";
import { placeOf, placeSecrets } from "./session/session-call.ts";
import { TextView } from "./text-view.ts";

const plannerNotice =
  "This is the planner, not a language model: it hands requests to tools by their words and quotes what they give. " +
  "For a model set a key, such as OPENAI_API_KEY or ANTHROPIC_API_KEY, and say --model; see moora help.";

interface DeskParts {
  readonly chosen: ChosenLlm;
  readonly screen: Screen;
  readonly lines: Lines;
  readonly conversation: Conversation;
}

/** An agent with a person, or a program, in front of it. */
export class AgentDesk {
  readonly screen: Screen;
  readonly chosen: ChosenLlm;
  readonly session: Session;
  private readonly conversation: Conversation;
  private readonly lines: Lines;
  private readonly interrupts: Interrupts;
  private readonly view: RunView;
  private readonly approvals: ApprovalDesk;
  private readonly letGo: readonly (() => void)[];
  /** The line that is waited for. */
  private waiting: AbortController | undefined;
  /** A loop that somebody else began while nobody here was at work. */
  private begun: BegunLoop | undefined;
  private isAtWork = false;
  /** Set once the process was asked to end. */
  private leaving: Promise<void> | undefined;

  /** Throws `UsageError` for options that make no sense, and what keeps a session from being opened. */
  static async open(call: CommandCall, host: CliHost): Promise<AgentDesk> {
    const chosen = chooseLlm(call.options, host.env);
    const screen = new Screen(host, [...chosen.secrets, ...placeSecrets(placeOf(call.options, host))]);
    const conversation = await openConversation(call, host, chosen, screen);
    return new AgentDesk(call, host, { chosen, screen, lines: new Lines(host), conversation });
  }

  private constructor({ options }: CommandCall, host: CliHost, parts: DeskParts) {
    this.chosen = parts.chosen;
    this.screen = parts.screen;
    this.lines = parts.lines;
    this.conversation = parts.conversation;
    this.session = parts.conversation.session;
    this.begun = parts.conversation.begun;
    this.interrupts = new Interrupts(host);
    const by = options.text("as") ?? host.user;
    this.approvals = new ApprovalDesk(this.lines, this.screen, {
      decide: (question, decision, decider = by) => this.session.decide(question, decision, decider),
      elsewhere: this.conversation.elsewhere,
    });
    this.view = options.has("json")
      ? new JsonView(this.screen, options.has("trace"))
      : new TextView(this.screen, options.has("trace"), () => host.clock.now());
    const { isKept } = this.conversation;
    this.letGo = isKept
      ? [host.onTerminate(() => this.leave()), this.session.onEvent(() => this.notice())]
      : [];
    if (!this.chosen.provider.needsModel) this.screen.aside(plannerNotice);
  }

  /** Whether something goes on that nobody here has begun, or has just ended while the session was opened. */
  get isUnderWay(): boolean {
    return (
      this.begun !== undefined || this.session.running() !== undefined || this.session.trace().length > 0
    );
  }

  /** What the user said last in this session. */
  get lastMessage(): string | undefined {
    return this.session.current().messages.findLast(({ role }) => role === "user")?.content;
  }

  /** Whether the process was asked to end. */
  get isLeaving(): boolean {
    return this.leaving !== undefined;
  }

  /** The next line of the input. Ctrl-C ends the waiting; what begins in the session calls it off. */
  async line(prompt: string): Promise<LineRead> {
    if (this.isLeaving || this.begun !== undefined) return { type: "called-off" };
    const over = new AbortController();
    let isInterrupted = false;
    const interrupt = (): void => {
      isInterrupted = true;
      over.abort();
    };
    this.waiting = over;
    const read = await this.interrupts.during(interrupt, () => this.lines.message(prompt, over.signal));
    this.waiting = undefined;
    return isInterrupted && read.type === "called-off" ? { type: "interrupted" } : read;
  }

  /** One message and the loop that answers it. Ctrl-C ends the loop and nothing else. */
  async turn(text: string): Promise<ExitCode> {
    return await this.follow(() => this.session.ask(text));
  }

  /** The loop that is under way, to its end: one that a crash broke off, or that somebody else began. */
  async goOn(): Promise<ExitCode> {
    this.screen.aside(`> ${oneLine(this.lastMessage ?? "")}`);
    const { begun = begunLoop(this.session) } = this;
    this.begun = undefined;
    if (begun === undefined) return this.ended();
    const { run, streaming } = begun;
    if (streaming !== null) this.view.show({ type: "LlmToken", ...streaming });
    return await this.follow(() => run);
  }

  private async follow(begin: () => AgentRun): Promise<ExitCode> {
    this.isAtWork = true;
    const run = begin();
    const cancel = (): void => run.cancel("The user pressed Ctrl-C.");
    try {
      return await this.interrupts.during(cancel, () => this.shown(run, cancel));
    } finally {
      this.isAtWork = false;
    }
  }

  private async shown(run: AgentRun, cancel: () => void): Promise<ExitCode> {
    const over = new AbortController();
    const ask = (question: Question): void =>
      this.approvals.ask(question, this.whileOpen(question, over.signal), cancel);
    try {
      for (const question of this.session.questions()) ask(question);
      for await (const event of run) {
        if (event.type === "ApprovalRequested") ask(event);
        this.view.show(event);
      }
      this.view.answered(await run);
      return exitCodes.answered;
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      return this.failed(error);
    } finally {
      over.abort();
    }
  }

  private failed(error: AgentError): ExitCode {
    if (this.isLeaving) {
      this.screen.note(`Stopped. ${this.conversation.wayBack}`);
      return exitCodes.terminated;
    }
    this.view.failed(error, errorToWords(error, this.chosen));
    return errorToExitCode(error);
  }

  /** Aborted when the question is answered, here or elsewhere, or when nobody waits for it any more. */
  private whileOpen({ toolCallId, digest }: Question, signal: AbortSignal): AbortSignal {
    const closed = new AbortController();
    const look = (): void => {
      const isOpen = this.session
        .questions()
        .some((question) => question.toolCallId === toolCallId && question.digest === digest);
      if (!isOpen) closed.abort();
    };
    const stop = this.session.subscribe(look);
    signal.addEventListener("abort", stop, { once: true });
    look();
    return AbortSignal.any([signal, closed.signal]);
  }

  private ended(): ExitCode {
    const { streaming: _, ...state } = this.session.current();
    const { control, step, usage } = state.reActContext;
    const trace = this.session.trace();
    if (control.type === "Error") return this.failed(failureToError(control.failure, state, trace));
    const text = answerTextAt(state);
    this.view.show({ type: "FinalAnswer", answer: text, text });
    this.view.answered({ answer: text, text, steps: step, usage, state, trace });
    return exitCodes.answered;
  }

  /** Somebody else has begun something: it is shown before the next line is taken. */
  private notice(): void {
    if (this.isAtWork || this.begun !== undefined) return;
    this.begun = begunLoop(this.session);
    if (this.begun !== undefined) this.waiting?.abort();
  }

  /** Starts nothing new, lets what runs end for a while, and goes; at a second call at once. */
  private leave(): void {
    if (this.leaving === undefined) {
      this.screen.aside("Stopping: what runs may end first.");
      this.leaving = this.conversation.leave();
    } else void this.session.close();
    this.waiting?.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.screen.wipe();
    this.lines.close();
    for (const stop of this.letGo) stop();
    this.interrupts[Symbol.dispose]();
    await this.leaving;
    await this.conversation.close();
  }
}
