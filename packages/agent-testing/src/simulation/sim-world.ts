import {
  initialStateOf,
  openSession,
  SessionError,
  type Agent,
  type DurableSession,
  type Question,
  type Receipt,
  type Recipe,
} from "@moora/agent";
import { effectsAt, type Clock, type Tool, type ToolContext } from "@moora/agent-core-effects";
import { controlName, type AgentInput, type AgentState } from "@moora/agent-core-state-machine";
import { openCallsOf } from "@moora/agent-core-state-machine/internal";
import { LogError, type EventLog } from "@moora/event-log";
import type { Dialects } from "../laws/request-laws.ts";
import { checkBeginning, type Beginning } from "./check-beginning.ts";
import { check, InvariantBroken } from "./invariant-broken.ts";
import { runGuarded, LogWatch } from "./log-watch.ts";
import type { Pending } from "./pending.ts";
import { passSubAgent } from "./pass-sub-agent.ts";
import { finishWork, nextTurn, type Outcome } from "./finish-work.ts";
import { clockOf, hasSubAgents, simulatedAgent, type SimHost } from "./sim-host.ts";
import { SimLog, simStore } from "./sim-log.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** Something that happened, for people to read. */
export interface StoryLine {
  readonly what: string;
  readonly control: string;
  readonly seq: number;
}

export interface WorldOptions {
  readonly agent: Agent<unknown>;
  readonly asyncAppends: boolean;
  readonly dialects: Dialects;
  /** Whether the laws that cost the whole state are checked at this input. */
  readonly thoroughly: (count: number) => boolean;
  /** Whether a tool is executed, by its name. */
  readonly executes: (name: string) => boolean;
  /** The recipes with which the application changes its data. */
  readonly updates: readonly Recipe<unknown>[];
  /** What the hosts give to tools and handlers. */
  readonly context: object | undefined;
}

/** Where errors come from that are bugs of the reducer, of effects, or of a view. */
const bugSources: ReadonlySet<string> = new Set(["transition", "effectsAt", "projection"]);

/** The id of the simulated session. */
export const sessionId = "simulated";

/** Everything of one simulated session: its store, its hosts, what they wait for, and what has been seen. */
export class SimWorld {
  /** The agent that the simulation was given. */
  readonly original: Agent<unknown>;
  /** The recipes with which the application changes its data. */
  readonly updates: readonly Recipe<unknown>[];
  /** The newest release: what the next host runs. */
  agent: Agent<unknown>;
  /** Faults of the releases since a host was opened last. */
  releases: string[] = [];
  readonly store: EventLog = simStore();
  readonly hosts: SimHost[] = [];
  readonly story: StoryLine[] = [];
  readonly hits: (readonly [control: string, fault: string])[] = [];
  readonly acknowledged: { readonly seq: number; readonly text: string }[] = [];
  readonly questions: Question[] = [];
  readonly watch: LogWatch;
  readonly time: VirtualClock = new VirtualClock();
  pending: Pending[] = [];
  /** After how many passages of the logs of sub-agents their caller is canceled, if it is to be. */
  cancelIn: number | undefined;
  /** The first thing that went wrong outside of any call that could have thrown it. */
  failure: unknown;
  readonly #options: WorldOptions;
  #names = 0;

  constructor(options: WorldOptions) {
    const { agent, dialects, thoroughly, updates } = options;
    this.#options = options;
    this.updates = updates;
    this.original = agent;
    this.agent = agent;
    const from = initialStateOf(agent);
    this.watch = new LogWatch(this.store, sessionId, { from, dialects, thoroughly });
  }

  /** Opens the session in a new process, with the newest release. Returns what went wrong, if something did. */
  async open(access: "run" | "post", isOwnerGone: boolean, approvesAll = false): Promise<unknown> {
    const name = `host-${(this.#names += 1)}`;
    const wait = this.#options.asyncAppends ? (it: Pending) => void this.pending.push(it) : undefined;
    const log = new SimLog(this.store, name, {
      id: sessionId,
      wait,
      wrote: (writer, records) => this.guard(() => this.watch.wrote(writer, records, this.#isOwned)),
      canceled: () => void (host.canceling = undefined),
      pass: () => passSubAgent(this, host),
    });
    const host: SimHost = {
      name,
      agent: this.agent,
      log,
      access,
      approvesAll,
      session: undefined,
      canceling: undefined,
      timers: 0,
    };
    const clock = clockOf(host, this.time, () => this.hosts.includes(host));
    this.hosts.push(host);
    for (const fault of this.releases.splice(0)) this.hit(fault);
    // What others append while a host opens is news to it, also if it has read the log already.
    if (access === "post") log.afterNextRead(() => this.#finishAppend((pending) => pending.host !== name));
    const opening = openSession(this.#simulated(host, clock), {
      log: log.asEventLog(),
      id: sessionId,
      owner: name,
      access,
      clock,
      isOwnerGone: () => isOwnerGone,
      newId: (prefix) => `${prefix}-${(this.#names += 1)}`,
      onError: ({ source, error }) => this.#reported(source, error),
      context: this.#options.context,
      ...(approvesAll ? { onApproval: () => "approve" } : {}),
    });
    const opened = await this.finished(opening, host);
    if ("error" in opened) {
      this.crash(host);
      return opened.error;
    }
    host.session = opened.value;
    opened.value.onInput((input, state, seq) =>
      this.guard(() => this.watch.published(name, input, state, seq)),
    );
    opened.value.onEvent((event) => {
      if (event.type === "ApprovalRequested") this.questions.push(event);
    });
    this.guard(() => this.watch.catchUp());
    if (access === "post") await this.#checkIsCurrent(opened.value);
    return undefined;
  }

  /** V2: a host that has opened the session contains every record of its log, without a call of `refresh`. */
  async #checkIsCurrent(session: DurableSession<unknown>): Promise<void> {
    await nextTurn();
    const { seq, lastError } = session.info();
    const { length } = this.watch;
    const isCurrent = lastError !== undefined || seq === length;
    this.guard(() =>
      check(isCurrent, "V2", () => `a host has opened at ${seq}, and the log is at ${length}`),
    );
  }

  /** V13: injected faults are reported as errors; any other error of the reducer or of a view is a bug. */
  #reported(source: string, error: unknown): void {
    const isInjected = error instanceof LogError || error instanceof SessionError;
    if (bugSources.has(source) && !isInjected)
      this.failure ??= new InvariantBroken("V13", `an error in ${source}: ${String(error)}`);
  }

  /** The process is gone: it does nothing more, and nothing that it waited for arrives. */
  crash(host: SimHost): void {
    host.log.kill();
    if (this.hosts.includes(host)) this.hosts.splice(this.hosts.indexOf(host), 1);
    this.pending = this.pending.filter((pending) => pending.host !== host.name);
  }

  /** Ends a process in good order. */
  async close(host: SimHost): Promise<void> {
    if (host.session !== undefined) await this.finished(host.session.close(), host);
    this.crash(host);
  }

  get owner(): SimHost | undefined {
    return this.hosts.find((host) => host.access === "run" && host.session?.info().access === "run");
  }

  /** Whether a host runs the session, and its right to do so has not expired. */
  get #isOwned(): boolean {
    return (this.owner?.session?.info().leaseUntil ?? 0) > this.time.now();
  }

  /** The state as its owner sees it, or as the log has it when no host runs the session. */
  get state(): AgentState {
    return this.owner?.session?.current() ?? this.watch.keeper.state;
  }

  get control(): string {
    return controlName(this.state.reActContext.control);
  }

  record(what: string): void {
    this.story.push({ what, control: this.control, seq: this.watch.length });
  }

  hit(fault: string): void {
    this.hits.push([this.control, fault]);
  }

  /** Keeps the first failure of a check that runs inside of a callback. */
  guard(run: () => void): void {
    runGuarded((error) => (this.failure ??= error), run);
  }

  /** Offers something through a session: V9, nothing invalid is accepted; V6, only what is at fault is refused. */
  offer(
    work: Promise<Receipt>,
    { input, isOversized = false, isBelow = false, invalid }: OfferDetails = {},
  ): void {
    work.then(
      (receipt) => {
        if (receipt.status !== "accepted") return;
        const { seq } = receipt;
        if (!isBelow) this.acknowledged.push({ seq, text: input === undefined ? "" : JSON.stringify(input) });
        if (invalid !== undefined) this.failure ??= new InvariantBroken("V9", `${invalid} was accepted`);
      },
      (error: unknown) => {
        const isOfAnother = error instanceof LogError && error.code === "InvalidRecord" && !isOversized;
        if (isOfAnother) {
          this.failure ??= new InvariantBroken(
            "V6",
            "an input was refused for another one that is too large",
          );
        }
      },
    );
  }

  take(pending: Pending): void {
    this.pending = this.pending.filter((other) => other !== pending);
  }

  /** Adds the owner's open questions to those that were seen as events: a host may open with some. */
  noteQuestions(): void {
    const { owner } = this;
    const asks = openCallsOf(this.state.reActContext.control).some(({ status }) => status.type === "asking");
    if (!(asks || hasSubAgents(this.original)) || owner?.session === undefined) return;
    for (const question of owner.session.questions())
      if (!this.questions.some(({ digest }) => digest === question.digest)) this.questions.push(question);
  }

  wantedBy(host: SimHost): number {
    const state = host.session?.current();
    if (state === undefined) return 0;
    return Object.values(effectsAt(state)).filter(
      (effect) => effect.type === "call-llm" || effect.type === "call-tool",
    ).length;
  }

  /** Waits for work of a host that needs only its appends, which are let through. */
  finished<T>(work: Promise<T>, host: SimHost): Promise<Outcome<T>> {
    return finishWork(work, host.name, () => this.#finishAppend((pending) => pending.host === host.name));
  }

  #finishAppend(isMeant: (pending: Pending) => boolean): void {
    const append = this.pending.find((pending) => pending.type === "append" && isMeant(pending));
    if (append?.type !== "append") return;
    this.take(append);
    append.finish();
  }

  #simulated(host: SimHost, clock: Clock): Agent<unknown> {
    return simulatedAgent(host, {
      clock,
      wait: (pending) => void this.pending.push(pending),
      starts: (...beginning) => this.guard(() => this.#starts(...beginning)),
      asks: (request, { idempotencyKey }) => this.guard(() => this.watch.asked(request, idempotencyKey)),
      begins: (of, tool, parameters, context) =>
        this.guard(() => this.#begins(of, tool, parameters, context)),
      hasRun: (id) => this.watch.calls.hasRun(id),
      follow: (pending, end) => {
        this.pending.push(pending);
        return end.finally(() => this.take(pending));
      },
      executes: this.#options.executes,
    });
  }

  #starts({ session, canceling }: SimHost, what: Beginning, toolCallId?: string, within?: string): void {
    if (canceling !== undefined) canceling.begun ??= what;
    // While a host opens the session, only its log shows what it has accepted.
    if (session === undefined) this.watch.catchUp();
    checkBeginning(session?.current() ?? this.watch.keeper.state, what, toolCallId, within);
  }

  #begins(host: SimHost, tool: Tool, parameters: string, context: ToolContext): void {
    const { name, session, agent } = host;
    const { toolCallId, attempt, idempotencyKey: key } = context;
    const { replay = "once" } = tool.definition;
    const atSeq = this.watch.length;
    const run = { host: name, name: tool.name, toolCallId, key, parameters, attempt, atSeq, replay };
    const state = session?.current() ?? this.watch.keeper.state;
    const member = agent.team?.agents.get(state.activeAgent ?? "") ?? agent;
    const { config, tools } = session === undefined ? member : state;
    this.watch.calls.begins(run, { state, isOpen: session !== undefined, config, tools });
  }
}

interface OfferDetails {
  readonly input?: AgentInput;
  /** Whether it holds the record that no log takes. */
  readonly isOversized?: boolean;
  /** Whether the log of a sub-agent has it. */
  readonly isBelow?: boolean;
  /** What it is, where it must not be accepted. */
  readonly invalid?: string;
}
