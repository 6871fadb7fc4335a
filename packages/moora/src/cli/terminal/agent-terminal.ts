import {
  AgentError,
  answerTextAt,
  failureToError,
  type AgentEvent,
  type AgentRun,
  type RunResult,
  type Question,
  type Session,
} from "@moora/agent";
import { oneLine } from "@moora/agent-core-effects/internal";
import { chooseLlm, type ChosenLlm } from "../choose-llm.ts";
import { exitCodes, type CliHost, type ExitCode } from "../cli-host.ts";
import type { CommandCall } from "../command.ts";
import { openCliSession, type CliSession } from "../session/cli-session.ts";
import { errorToExitCode, errorToMessage, modelFailureCause } from "../error-message.ts";
import { createLineReader, type LineRead, type LineReader } from "./line-reader.ts";
import { plannerNotice } from "../providers.ts";
import { Interrupts } from "./interrupts.ts";
import { QuestionPrompt } from "../questions/question-prompt.ts";
import { RunQuestions } from "../questions/run-questions.ts";
import { pauseText, type Pause, type RunView } from "./run-view.ts";
import { Screen } from "./screen.ts";
import { environmentSecrets } from "../secrets.ts";
import { logTargetOf, logSecrets } from "../session/session-call.ts";
import { JsonView } from "./json-view.ts";
import { TextView } from "./text-view.ts";

interface AgentTerminalParts {
  readonly chosen: ChosenLlm | undefined;
  readonly screen: Screen;
  readonly cliSession: CliSession;
  readonly events: SessionEvents;
}

/** The terminal, or the pipe, through which a user or a program talks to an agent. */
export class AgentTerminal {
  readonly screen: Screen;
  /** The model; undefined for an agent of a module. */
  readonly chosen: ChosenLlm | undefined;
  readonly cliSession: CliSession;
  readonly session: Session<unknown>;
  readonly #lines: LineReader;
  readonly #interrupts: Interrupts;
  readonly #view: RunView;
  readonly #questions: RunQuestions;
  readonly #subscriptions: readonly (() => void)[];
  /** Cancels the line that is being read. */
  #reading: AbortController | undefined;
  readonly #events: SessionEvents;
  /** Set once the process was asked to end. */
  #stopping: Promise<void> | undefined;

  /**
   * Opens the session that the options name. Throws `CliFailure` for invalid options, and the error if the session cannot be
   * opened.
   */
  static async open(call: CommandCall, host: CliHost): Promise<AgentTerminal> {
    const chosen = call.options.agent !== undefined ? undefined : chooseLlm(call.options, host.env);
    const secrets = chosen?.secrets ?? environmentSecrets(host.env);
    const screen = new Screen(host, [...secrets, ...logSecrets(logTargetOf(call.options, host))]);
    const events = new SessionEvents();
    const cliSession = await openCliSession(call, host, { chosen, screen, onEvent: events.push });
    return new AgentTerminal(call, host, { chosen, screen, cliSession, events });
  }

  private constructor({ options }: CommandCall, host: CliHost, parts: AgentTerminalParts) {
    this.chosen = parts.chosen;
    this.screen = parts.screen;
    this.cliSession = parts.cliSession;
    this.session = parts.cliSession.session;
    this.#events = parts.events;
    this.#interrupts = new Interrupts(host);
    this.#lines = createLineReader(host, () => this.#interrupts.interrupt());
    this.#questions = new RunQuestions({
      session: this.session,
      screen: this.screen,
      prompt: new QuestionPrompt(this.#lines, this.screen),
      by: options.as ?? host.user,
      canAsk: this.#lines.isTerminal || options["approve-from-stdin"] === true,
      isDurable: this.cliSession.hints !== undefined,
    });
    const showsTrace = options.trace === true;
    this.#view =
      options.json === true
        ? new JsonView(this.screen, showsTrace)
        : new TextView(this.screen, {
            showsTrace,
            now: () => host.clock.now(),
            retryReason: (kind, message) => modelFailureCause(kind, message, this.chosen),
          });
    this.#subscriptions =
      this.cliSession.hints === undefined
        ? []
        : [host.onTerminate(() => this.#shutdown()), this.session.onEvent(() => this.#endReading())];
    if (this.chosen?.provider.needsModel === false) this.screen.dim(plannerNotice);
  }

  /** Whether a loop was in progress when the session was opened, including one that has ended since. */
  get hasResumedLoop(): boolean {
    return this.session.running() !== undefined || this.session.trace().length > 0;
  }

  /** The last message of the user in this session. */
  get lastMessage(): string | undefined {
    return this.session.current().messages.findLast(({ role }) => role === "user")?.content;
  }

  /** Whether the process was asked to end. */
  get isStopping(): boolean {
    return this.#stopping !== undefined;
  }

  /** Reads the next line of input. Ctrl-C interrupts it. A loop that another process starts ends it as `canceled`. */
  async readLine(prompt: string): Promise<LineRead> {
    if (this.isStopping || this.#hasNewLoop()) return { type: "canceled" };
    const reading = new AbortController();
    let isInterrupted = false;
    const interrupt = (): void => {
      isInterrupted = true;
      reading.abort();
    };
    this.#reading = reading;
    const read = await this.#interrupts.during(interrupt, () =>
      this.screen.withInput(this.#lines, () => this.#lines.message(prompt, reading.signal)),
    );
    this.#reading = undefined;
    return isInterrupted && read.type === "canceled" ? { type: "interrupted" } : read;
  }

  /** From here on, text typed while the agent works is buffered for the next line, and is not shown before. */
  collectLines(): void {
    this.#lines.collect();
  }

  /** Sends a message and shows its loop to the end. Ctrl-C cancels only the loop. */
  async ask(text: string): Promise<ExitCode> {
    return await this.#showUntilEnd(() => this.session.ask(text));
  }

  /** Shows the loop in progress to its end: one that a crash interrupted, or that another process started. */
  async resume(): Promise<ExitCode> {
    this.screen.dim(`> ${oneLine(this.lastMessage ?? "")}`);
    return await this.#showUntilEnd(() => this.session.running());
  }

  async #showUntilEnd(begin: () => AgentRun<unknown> | undefined): Promise<ExitCode> {
    const run = begin();
    const pause = this.#pause();
    if (pause !== undefined && this.#questions.canAsk)
      this.screen.line(pauseText(pause, ", in another terminal"));
    const cancel = (): void => run?.cancel("The user pressed Ctrl-C.");
    return await this.#interrupts.during(cancel, () => this.#showRun(run, cancel));
  }

  /** The pause of the session, which starts no work before a person resumes it. */
  #pause(): Pause | undefined {
    const { paused } = this.session.current();
    const { hints } = this.cliSession;
    if (!paused || hints === undefined) return undefined;
    return { ...paused, command: hints.command("resume", this.session.id) };
  }

  /** Shows a run to its end, or until it waits only for people who are not here. Undefined: the loop has ended meanwhile. */
  async #showRun(run: AgentRun<unknown> | undefined, cancel: () => void): Promise<ExitCode> {
    const over = new AbortController();
    const ask = (question: Question): void => this.#questions.ask(question, over.signal, cancel);
    const leftOpen = this.#questions.leftOpen();
    try {
      this.#events.show((event) => {
        // The view ends the line of the answer before a question is asked.
        this.#view.show(event);
        const asked = event.type === "SubAgentEvent" ? event.event : event;
        if (asked.type === "ApprovalRequested") ask(asked);
        this.#questions.check();
      });
      for (const question of this.session.questions()) ask(question);
      this.#questions.check();
      const end = await Promise.race([run ?? this.#ended(), leftOpen]);
      if (end === "left-open") return this.#showWaiting();
      const { answer, text } = end;
      this.#view.show({ type: "FinalAnswer", answer, text });
      this.#view.showResult(end);
      return this.#questions.hasRejected ? exitCodes.unasked : exitCodes.answered;
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      return this.#showFailure(error);
    } finally {
      over.abort();
      this.#events.show(undefined);
    }
  }

  /** Shows the questions that are open and the pause, with the commands that settle them. */
  #showWaiting(): ExitCode {
    const { hints } = this.cliSession;
    if (hints === undefined) return exitCodes.failed;
    const questions = this.session
      .questions()
      .filter(({ path }) => path === undefined)
      .map((question) => ({ question, commands: hints.decisionCommands(this.session.id, question) }));
    const resume = hints.runCommand("run", "--session", this.session.id);
    this.#view.showWaiting({ questions, pause: this.#pause(), resume });
    return exitCodes.waiting;
  }

  #showFailure(error: AgentError): ExitCode {
    if (this.isStopping) {
      const resume = this.cliSession.hints?.runCommand("run", "--session", this.session.id) ?? "";
      this.screen.line(`Stopped. To resume: ${resume}`);
      return exitCodes.terminated;
    }
    this.#view.show({ type: "Error", error });
    this.#view.showFailure(error, errorToMessage(error, this.chosen));
    return errorToExitCode(error);
  }

  /** The result of the last loop. Throws `AgentError` for one that has failed. */
  #ended(): RunResult<unknown> {
    const { streaming: _, ...state } = this.session.current();
    const { control, step, usage } = state.reActContext;
    const trace = this.session.trace();
    if (control.type === "Error") throw failureToError(control.failure, state, trace);
    const text = answerTextAt(state);
    return { answer: text, text, steps: step, usage, state, trace };
  }

  /** Whether another process has started a loop that is not shown yet. */
  #hasNewLoop(): boolean {
    return !this.#events.isShown && (this.#events.hasWaitingLoop || this.session.running() !== undefined);
  }

  /** A loop that another process started is shown before the next line is read. */
  #endReading(): void {
    if (this.#hasNewLoop()) this.#reading?.abort();
  }

  /** Starts no new work, gives running work time to finish, and ends; a second call ends immediately. */
  #shutdown(): void {
    if (this.#stopping === undefined) {
      this.screen.dim("Stopping: running work may finish first.");
      this.#stopping = this.cliSession.shutdown();
    } else void this.session.close();
    this.#reading?.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.screen.endAnswer();
    this.screen.clearStatus();
    this.#lines.close();
    for (const stop of this.#subscriptions) stop();
    this.#interrupts[Symbol.dispose]();
    await this.#stopping;
    await this.cliSession.close();
  }
}

/** The events of a session, in order: those of a loop that is not shown yet wait. */
class SessionEvents {
  #waiting: AgentEvent<unknown>[] = [];
  #show: ((event: AgentEvent<unknown>) => void) | undefined;

  get isShown(): boolean {
    return this.#show !== undefined;
  }

  /** Whether events of a loop wait. Others, such as a pause, are shown with the next loop. */
  get hasWaitingLoop(): boolean {
    return this.#waiting.some(({ type }) => type === "StateStarted");
  }

  /** How a loop has ended is not shown by its event: its run says more about it. */
  readonly push = (event: AgentEvent<unknown>): void => {
    if (event.type === "FinalAnswer" || event.type === "Error") return;
    if (this.#show === undefined) this.#waiting.push(event);
    else this.#show(event);
  };

  /** Shows the events that wait, and those that follow; undefined ends this. */
  show(show: ((event: AgentEvent<unknown>) => void) | undefined): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#show = show;
    for (const event of waiting) show?.(event);
  }
}
