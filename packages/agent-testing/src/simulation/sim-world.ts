import { openSession, type Agent, type DurableSession, type Question, type Receipt } from "@moora/agent";
import { effectsAt, type Clock } from "@moora/agent-core-effects";
import {
  controlName,
  initialAgentState,
  type AgentInput,
  type AgentState,
} from "@moora/agent-core-state-machine";
import type { EventLog, LogRecord } from "@moora/event-log";
import type { Choose } from "../draw-input.ts";
import { keepLaws, type LawKeeper } from "../laws/keep-laws.ts";
import type { Dialects } from "../laws/request-laws.ts";
import type { Pending, ToolRun } from "./pending.ts";
import { SimLog, simStore } from "./sim-log.ts";
import { simLlm } from "./sim-llm.ts";
import { simTool } from "./sim-tools.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** A process, as far as a session can tell: its own handle on the store, its own timers, gone when it crashes. */
export interface SimHost {
  readonly name: string;
  readonly log: SimLog;
  session: DurableSession<unknown> | undefined;
  access: "run" | "post";
  /** Timers that were set and have neither fired nor been called off. */
  timers: number;
}

/** Something that happened, for people to read. */
export interface StoryLine {
  readonly what: string;
  readonly control: string;
  readonly seq: number;
}

export interface WorldOptions {
  readonly agent: Agent<unknown>;
  readonly choose: Choose;
  readonly dialects: Dialects;
  /** Whether the laws that cost the whole state are checked at this input. */
  readonly thoroughly: (count: number) => boolean;
}

/** Thrown when an invariant does not hold: V1 to V14 of the kit, or one of the user's. */
export class InvariantBroken extends Error {
  override readonly name = "InvariantBroken";
  readonly invariant: string;

  constructor(invariant: string, message: string) {
    super(`${invariant}: ${message}`);
    this.invariant = invariant;
  }
}

/** What others than the owner may write: said here by itself, not taken from the session, which is what is held to it. */
const anybodys: ReadonlySet<AgentInput["type"]> = new Set([
  "user-message-received",
  "tool-call-decided",
  "re-act-cancelled",
  "context-window-expanded",
  "history-tool-calls-added",
  "context-note-added",
]);

/** Work that needs nothing but appends ends within so many rounds. */
const mostRounds = 200;

/** Everything of one simulated session: its store, its hosts, what they wait for, and what has been seen. */
export class SimWorld {
  readonly agent: Agent<unknown>;
  readonly choose: Choose;
  readonly store: EventLog = simStore();
  readonly hosts: SimHost[] = [];
  readonly toolRuns: ToolRun[] = [];
  readonly story: StoryLine[] = [];
  readonly acknowledged: { readonly seq: number; readonly text: string }[] = [];
  readonly questions: Question[] = [];
  readonly decided: { readonly toolCallId: string; readonly digest: string; readonly type: string }[] = [];
  readonly keeper: LawKeeper;
  pending: Pending[] = [];
  readonly time: VirtualClock = new VirtualClock();
  /** The first thing that went wrong outside of any call that could have told it. */
  failure: unknown;
  private readonly isAsync: boolean;
  private names = 0;
  /** The host whose `session-opened` is the last in the log. */
  private writer = "";

  constructor({ agent, choose, dialects, thoroughly }: WorldOptions) {
    this.agent = agent;
    this.choose = choose;
    this.isAsync = choose(3) === 0;
    const { config, tools } = agent;
    this.keeper = keepLaws({
      from: initialAgentState({ config, tools }),
      dialects,
      replays: false,
      thoroughly,
    });
  }

  /** Opens the session in a new process. Answers what went wrong, if something did. */
  async open(access: "run" | "post", isOwnerGone: boolean): Promise<unknown> {
    const name = `host-${(this.names += 1)}`;
    const log = new SimLog(
      this.store,
      name,
      this.isAsync ? (pending) => this.pending.push(pending) : undefined,
      (writer, records) => this.wrote(writer, records),
    );
    const host: SimHost = { name, log, session: undefined, access, timers: 0 };
    this.hosts.push(host);
    const opening = openSession(this.simulated(host), {
      log: log.asEventLog(),
      id: "simulated",
      owner: name,
      access,
      clock: this.clockOf(host),
      isOwnerGone: () => isOwnerGone,
      newId: (prefix) => `${prefix}-${(this.names += 1)}`,
    });
    const opened = await this.finished(opening, host);
    if ("error" in opened) {
      this.hosts.splice(this.hosts.indexOf(host), 1);
      log.kill();
      return opened.error;
    }
    host.session = opened.value;
    opened.value.onInput((input, state, seq) => this.published(host, input, state, seq));
    opened.value.onEvent((event) => {
      if (event.type === "ApprovalRequested") this.questions.push(event);
    });
    this.catchUp();
    return undefined;
  }

  /** The process is gone: nothing of it is heard again, and nothing that it waited for comes. */
  crash(host: SimHost): void {
    host.log.kill();
    this.hosts.splice(this.hosts.indexOf(host), 1);
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

  /** The state as its owner sees it, or as the log tells it when nobody runs it. */
  get state(): AgentState {
    return this.owner?.session?.current() ?? this.keeper.state;
  }

  get control(): string {
    return controlName(this.state.reActContext.control);
  }

  tell(what: string): void {
    this.story.push({ what, control: this.control, seq: this.keeper.inputs.length });
  }

  /** Offers something through a session and remembers what was acknowledged. */
  offer(work: Promise<Receipt>, input?: AgentInput): void {
    work.then(
      (receipt) => {
        if (receipt.status === "accepted")
          this.acknowledged.push({
            seq: receipt.seq,
            text: input === undefined ? "" : JSON.stringify(input),
          });
      },
      () => undefined,
    );
  }

  take(pending: Pending): void {
    this.pending = this.pending.filter((other) => other !== pending);
  }

  /** How many effects the owner has under way, as the world sees them. */
  underWay(host: SimHost): number {
    return this.pending.filter((pending) => pending.host === host.name && pending.type !== "append").length;
  }

  wantedBy(host: SimHost): number {
    const state = host.session?.current();
    if (state === undefined) return 0;
    return Object.values(effectsAt(state)).filter(
      (effect) => effect.type === "call-llm" || effect.type === "call-tool",
    ).length;
  }

  /** Waits for work that needs nothing but appends to be let through. */
  private async finished<T>(
    work: Promise<T>,
    host: SimHost,
  ): Promise<{ readonly value: T } | { readonly error: unknown }> {
    const settled: ({ readonly value: T } | { readonly error: unknown })[] = [];
    work.then(
      (value) => settled.push({ value }),
      (error: unknown) => settled.push({ error }),
    );
    for (let round = 0; round <= mostRounds; round += 1) {
      const [outcome] = settled;
      if (outcome !== undefined) return outcome;
      const append = this.pending.find((pending) => pending.type === "append" && pending.host === host.name);
      if (append?.type === "append") {
        this.take(append);
        append.finish();
      }
      await quiet();
    }
    return { error: new InvariantBroken("V14", `${host.name} does not get to its end`) };
  }

  private simulated(host: SimHost): Agent<unknown> {
    const { agent } = this;
    const wait = (pending: Pending): void => void this.pending.push(pending);
    const tools = new Map(
      [...agent.parts.tools].map(([name, tool]) => [
        name,
        simTool(tool, {
          host: host.name,
          seq: () => this.keeper.inputs.length,
          wait,
          ran: (run) => this.toolRuns.push(run),
          hasRun: (id) => this.toolRuns.some((run) => run.toolCallId === id),
        }),
      ]),
    );
    return { ...agent, parts: { ...agent.parts, llm: simLlm(host.name, wait), tools } };
  }

  /** Timers of a process that is gone do not fire. */
  private clockOf(host: SimHost): Clock {
    const { time, hosts } = this;
    return {
      now: () => time.now(),
      after(ms, callback) {
        let isSet = true;
        const ended = (): void => {
          if (isSet) host.timers -= 1;
          isSet = false;
        };
        host.timers += 1;
        const callOff = time.after(ms, () => {
          ended();
          if (hosts.includes(host)) callback();
        });
        return () => {
          ended();
          callOff();
        };
      },
    };
  }

  /** V8: what only the owner may tell is told by the host that opened the session last. */
  private wrote(host: string, records: readonly LogRecord[]): void {
    for (const { seq, body } of records) {
      const { type }: AgentInput = JSON.parse(body);
      if (type === "session-opened") this.writer = host;
      else if (!anybodys.has(type) && host !== this.writer)
        this.failure ??= new InvariantBroken(
          "V8",
          `${host} writes ${type} at ${seq}, ${this.writer} is the owner`,
        );
    }
  }

  /** V1, V2, V7: every published input is the next one, is in the log, and leads every host to the same state. */
  private published(host: SimHost, input: AgentInput, state: AgentState, seq: number): void {
    try {
      const known = this.keeper.inputs.length;
      if (seq <= known) return;
      if (seq !== known + 1) throw new InvariantBroken("V1", `${host.name} publishes ${seq} after ${known}`);
      if (seq > this.durableHead())
        throw new InvariantBroken("V7", `${host.name} publishes ${seq} before it is in the log`);
      const next = this.keeper.apply(input);
      if (
        next.updatedAt !== state.updatedAt ||
        controlName(next.reActContext.control) !== controlName(state.reActContext.control)
      )
        throw new InvariantBroken("V2", `${host.name} is in another state than its log at ${seq}`);
    } catch (error) {
      this.failure ??= error;
    }
  }

  /** What the log has that no host has published to us yet: after a crash, the world reads on from there. */
  catchUp(): void {
    const log = this.store.open("simulated");
    if (log === undefined || log instanceof Promise) return;
    const records = log.read(this.keeper.inputs.length);
    if (records instanceof Promise) return;
    for (const record of records) this.keeper.apply(JSON.parse(record.body));
  }

  private durableHead(): number {
    const log = this.store.open("simulated");
    const head = log === undefined || log instanceof Promise ? 0 : log.head();
    return head instanceof Promise ? 0 : head;
  }
}

/** Lets everything happen that needs no more time: all microtasks, to the last. */
export const quiet = (): Promise<void> =>
  new Promise((resolve) => {
    const immediate: unknown = Reflect.get(globalThis, "setImmediate");
    if (typeof immediate === "function") Reflect.apply(immediate, undefined, [resolve]);
    else setTimeout(resolve, 0);
  });
