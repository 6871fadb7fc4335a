import { AgentError, startSession, type AgentRun, type Session } from "@moora/agent";
import { ApprovalDesk } from "./approval-desk.ts";
import { chooseLlm, type ChosenLlm } from "./choose-llm.ts";
import { exitCodes, type CliHost, type ExitCode } from "./cli-host.ts";
import type { CommandCall } from "./command.ts";
import { errorToWords } from "./error-to-words.ts";
import { JsonView } from "./json-view.ts";
import { Interrupts } from "./interrupts.ts";
import { Lines, type LineRead } from "./lines.ts";
import { optionsToAgent } from "./options-to-agent.ts";
import type { RunView } from "./run-view.ts";
import { Screen } from "./screen.ts";
import { TextView } from "./text-view.ts";

const plannerNotice =
  "This is the planner, not a language model: it hands requests to tools by their words and quotes what they give. " +
  "For a model set a key, such as OPENAI_API_KEY or ANTHROPIC_API_KEY, and say --model; see moora help.";

/** An agent with a person, or a program, in front of it. */
export class AgentDesk {
  readonly screen: Screen;
  readonly chosen: ChosenLlm;
  readonly session: Session;
  private readonly lines: Lines;
  private readonly interrupts: Interrupts;
  private readonly view: RunView;
  private readonly approvals: ApprovalDesk;

  /** Throws `UsageError` for options that make no sense. */
  constructor({ options }: CommandCall, host: CliHost) {
    this.chosen = chooseLlm(options, host.env);
    this.screen = new Screen(host, this.chosen.secrets);
    this.lines = new Lines(host);
    this.session = startSession(optionsToAgent(options, this.chosen, host), { clock: host.clock });
    // Last of what can throw: from here on Ctrl-C is ours.
    this.interrupts = new Interrupts(host);
    this.approvals = new ApprovalDesk(this.lines, this.screen);
    this.view = options.has("json")
      ? new JsonView(this.screen, options.has("trace"))
      : new TextView(this.screen, options.has("trace"), () => host.clock.now());
    if (!this.chosen.provider.needsModel) this.screen.aside(plannerNotice);
  }

  /** The next line of the input. Ctrl-C ends the waiting. */
  async line(prompt: string): Promise<LineRead> {
    const over = new AbortController();
    return await this.interrupts.during(
      () => over.abort(),
      () => this.lines.message(prompt, over.signal),
    );
  }

  /** One message and the loop that answers it. Ctrl-C ends the loop and nothing else. */
  async turn(text: string): Promise<ExitCode> {
    const run = this.session.ask(text);
    const cancel = (): void => run.cancel("The user pressed Ctrl-C.");
    return await this.interrupts.during(cancel, () => this.shown(run, cancel));
  }

  private async shown(run: AgentRun, cancel: () => void): Promise<ExitCode> {
    const over = new AbortController();
    try {
      for await (const event of run) {
        if (event.type === "ApprovalRequested") this.approvals.ask(event, over.signal, cancel);
        this.view.show(event);
      }
      this.view.answered(await run);
      return exitCodes.answered;
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      this.view.failed(error, errorToWords(error, this.chosen));
      return error.kind === "Cancelled" ? exitCodes.cancelled : exitCodes.failed;
    } finally {
      over.abort();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.screen.wipe();
    this.lines.close();
    this.interrupts[Symbol.dispose]();
    await this.session.close();
  }
}
