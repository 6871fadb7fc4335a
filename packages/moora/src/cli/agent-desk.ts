import {
  AgentError,
  answerTextAt,
  failureToError,
  type AgentRun,
  type Question,
  type Session,
} from "@moora/agent";
import { chooseLlm, type ChosenLlm } from "./choose-llm.ts";
import { exitCodes, type CliHost, type ExitCode } from "./cli-host.ts";
import type { CommandCall } from "./command.ts";
import { begunLoop, openConversation, type BegunLoop, type Conversation } from "./conversation.ts";
import { createView } from "./create-view.ts";
import { errorToExitCode, errorToWords } from "./error-to-words.ts";
import { lineSource, type LineRead, type LineSource } from "./input/line-source.ts";
import { Interrupts } from "./interrupts.ts";
import { oneLine } from "./one-line.ts";
import { QuestionPrompt } from "./questions/question-prompt.ts";
import { RunQuestions } from "./questions/run-questions.ts";
import type { RunView } from "./run-view.ts";
import { Screen } from "./screen.ts";
import { placeOf, placeSecrets } from "./session/session-call.ts";

const plannerNotice =
  "The planner answers: a deterministic stand-in, not a language model. It picks tools by the words of a request and " +
  "quotes their results. For a model set an API key, such as OPENAI_API_KEY or ANTHROPIC_API_KEY, and use --model.";

interface DeskParts {
  readonly chosen: ChosenLlm;
  readonly screen: Screen;
  readonly conversation: Conversation;
}

/** An agent with a person, or a program, in front of it. */
export class AgentDesk {
  readonly screen: Screen;
  readonly chosen: ChosenLlm;
  readonly conversation: Conversation;
  readonly session: Session;
  private readonly lines: LineSource;
  private readonly interrupts: Interrupts;
  private readonly view: RunView;
  private readonly questions: RunQuestions;
  private readonly subscriptions: readonly (() => void)[];
  /** Cancels the line that is being read. */
  private reading: AbortController | undefined;
  /** A loop that another process began while nothing was in progress here. */
  private begun: BegunLoop | undefined;
  private isWorking = false;
  /** Set once the process was asked to end. */
  private leaving: Promise<void> | undefined;

  /** Throws `UsageError` for invalid options, and what keeps a session from being opened. */
  static async open(call: CommandCall, host: CliHost): Promise<AgentDesk> {
    const chosen = chooseLlm(call.options, host.env);
    const screen = new Screen(host, [...chosen.secrets, ...placeSecrets(placeOf(call.options, host))]);
    const conversation = await openConversation(call, host, chosen, screen);
    return new AgentDesk(call, host, { chosen, screen, conversation });
  }

  private constructor({ options }: CommandCall, host: CliHost, parts: DeskParts) {
    this.chosen = parts.chosen;
    this.screen = parts.screen;
    this.conversation = parts.conversation;
    this.session = parts.conversation.session;
    this.begun = parts.conversation.begun;
    this.interrupts = new Interrupts(host);
    this.lines = lineSource(host, () => this.interrupts.interrupt());
    this.questions = new RunQuestions({
      session: this.session,
      screen: this.screen,
      prompt: new QuestionPrompt(this.lines, this.screen),
      by: options.text("as") ?? host.user,
      canAsk: this.lines.isTerminal || options.has("approve-from-stdin"),
      isKept: this.conversation.kept !== undefined,
    });
    this.view = createView({ ...parts, session: this.session, options, clock: host.clock });
    this.subscriptions =
      this.conversation.kept === undefined
        ? []
        : [host.onTerminate(() => this.leave()), this.session.onEvent(() => this.notice())];
    if (!this.chosen.provider.needsModel) this.screen.aside(plannerNotice);
  }

  /** Whether a loop is in progress that was not begun here, or has ended while the session was opened. */
  get isUnderWay(): boolean {
    return (
      this.begun !== undefined || this.session.running() !== undefined || this.session.trace().length > 0
    );
  }

  /** The last message of the user in this session. */
  get lastMessage(): string | undefined {
    return this.session.current().messages.findLast(({ role }) => role === "user")?.content;
  }

  /** Whether the process was asked to end. */
  get isLeaving(): boolean {
    return this.leaving !== undefined;
  }

  /** The next line of the input. Ctrl-C ends the reading. So does a loop that another process begins, as `canceled`. */
  async line(prompt: string): Promise<LineRead> {
    if (this.isLeaving || this.begun !== undefined) return { type: "canceled" };
    const reading = new AbortController();
    let isInterrupted = false;
    const interrupt = (): void => {
      isInterrupted = true;
      reading.abort();
    };
    this.reading = reading;
    const read = await this.interrupts.during(interrupt, () =>
      this.screen.withInput(this.lines, () => this.lines.message(prompt, reading.signal)),
    );
    this.reading = undefined;
    return isInterrupted && read.type === "canceled" ? { type: "interrupted" } : read;
  }

  /** From here on, what a person types while the agent works is kept for the next line, and is not shown before. */
  collectLines(): void {
    this.lines.collect();
  }

  /** One message and the loop that answers it. Ctrl-C cancels the loop and nothing else. */
  async turn(text: string): Promise<ExitCode> {
    return await this.follow(() => this.session.ask(text));
  }

  /** The loop in progress, to its end: one that a crash interrupted, or that another process began. */
  async resume(): Promise<ExitCode> {
    this.screen.aside(`> ${oneLine(this.lastMessage ?? "")}`);
    const { begun = begunLoop(this.session) } = this;
    this.begun = undefined;
    if (begun === undefined) return this.ended();
    const { run, streaming } = begun;
    if (streaming !== null) this.view.show({ type: "LlmToken", ...streaming });
    return await this.follow(() => run);
  }

  private async follow(begin: () => AgentRun): Promise<ExitCode> {
    this.isWorking = true;
    const run = begin();
    const cancel = (): void => run.cancel("The user pressed Ctrl-C.");
    try {
      return await this.interrupts.during(cancel, () => this.shown(run, cancel));
    } finally {
      this.isWorking = false;
    }
  }

  /** Shows a run to its end, or until only decisions are left that cannot be made here. */
  private async shown(run: AgentRun, cancel: () => void): Promise<ExitCode> {
    const over = new AbortController();
    const ask = (question: Question): void => this.questions.ask(question, over.signal, cancel);
    const leftOpen = this.questions.leftOpen();
    try {
      for (const question of this.session.questions()) ask(question);
      const end = await Promise.race([this.showEvents(run, ask, over.signal), leftOpen]);
      if (end === "left-open") return this.waiting();
      this.view.answered(await run);
      return exitCodes.answered;
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      return this.failed(error);
    } finally {
      over.abort();
    }
  }

  private async showEvents(
    run: AgentRun,
    ask: (question: Question) => void,
    over: AbortSignal,
  ): Promise<"ended"> {
    for await (const event of run) {
      if (over.aborted) break;
      // The view ends the line of the answer before a question is asked.
      this.view.show(event);
      if (event.type === "ApprovalRequested") ask(event);
      this.questions.check();
    }
    return "ended";
  }

  /** Shows the questions that are open, with the commands that settle them. */
  private waiting(): ExitCode {
    const { kept } = this.conversation;
    if (kept === undefined) return exitCodes.failed;
    const questions = this.session
      .questions()
      .map((question) => ({ question, commands: kept.settling(question) }));
    this.view.waiting(questions, kept.resume);
    return exitCodes.waiting;
  }

  private failed(error: AgentError): ExitCode {
    if (this.isLeaving) {
      this.screen.note(`Stopped. To resume: ${this.conversation.kept?.resume ?? ""}`);
      return exitCodes.terminated;
    }
    this.view.failed(error, errorToWords(error, this.chosen));
    return errorToExitCode(error);
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

  /** Another process has begun a loop: it is shown before the next line is read. */
  private notice(): void {
    if (this.isWorking || this.begun !== undefined) return;
    this.begun = begunLoop(this.session);
    if (this.begun !== undefined) this.reading?.abort();
  }

  /** Starts nothing new, lets running work finish for a while, and ends; at a second call at once. */
  private leave(): void {
    if (this.leaving === undefined) {
      this.screen.aside("Stopping: running work may finish first.");
      this.leaving = this.conversation.leave();
    } else void this.session.close();
    this.reading?.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.screen.endAnswer();
    this.screen.wipe();
    this.lines.close();
    for (const stop of this.subscriptions) stop();
    this.interrupts[Symbol.dispose]();
    await this.leaving;
    await this.conversation.close();
  }
}
