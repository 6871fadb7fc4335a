import type { Tool, ToolContext } from "@moora/agent-core-effects";
import { callHostOf } from "@moora/agent-core-effects/internal";
import { questionKey } from "@moora/agent-core-state-machine/internal";
import type { AgentEvent, Decision, Question, SubAgentEvent } from "../agent-event.ts";
import { refusalWithoutReviewer } from "../no-reviewer.ts";
import type { Agent } from "../define-agent.ts";
import type { ErrorReport } from "../error-reports.ts";
import type { LogListener } from "../logger.ts";
import type { OnApproval } from "./host-approvals.ts";
import { CallerPauses, type PausingHost } from "./caller-pauses.ts";
import type { AgentMachine } from "./agent-machine.ts";
import { openToPost } from "./post-to-sub-agent.ts";
import type { Receipt, Session } from "./session.ts";

/** The session of a sub-agent, as its caller uses it. */
export type ChildSession = Pick<Session<unknown>, "onEvent" | "onInput" | "questions" | "decide" | "current">;

/** The session that calls sub-agents. */
export interface SubAgentsHost extends PausingHost {
  /** What holds the work of this session and of all below it. */
  readonly hold: AgentMachine["hold"];
  readonly onApproval: OnApproval | undefined;
  /** Whether questions are rejected when no reviewer can answer, instead of left open. */
  readonly rejectsWithoutReviewer: boolean;
  readonly hasNoReviewer: () => boolean;
  readonly emit: (event: SubAgentEvent) => void;
  /** The tool of a call of this session, and the idempotency key of the call. */
  readonly callOf: (toolCallId: string) => {
    readonly tool: Tool | undefined;
    readonly idempotencyKey: string;
  };
  /** Checks, after a question was asked, that this process can show it. */
  readonly watch: () => void;
  readonly onLog: LogListener | undefined;
}

/** A call of a sub-agent. */
interface SubAgentCall {
  /** Undefined for a call without a session. */
  readonly caller: SubAgents | undefined;
  readonly signal: AbortSignal;
}

/** The calls of sub-agents, by the copies of their agents that `agentTool` makes for one call each. */
const calls = new WeakMap<Pick<Agent<unknown>, "parts">, SubAgentCall>();

const withoutOthers = new WeakSet<Pick<Agent<unknown>, "parts">>();

/** A copy of an agent for a session that is a task: where its `onApproval` fails, no other reviewer answers, and the call is refused. */
export function withOneReviewer<Of extends Agent<unknown>>(agent: Of): Of {
  const copy = { ...agent };
  withoutOthers.add(copy);
  return copy;
}

/** The sub-agents of a session that run in this process: their events and questions, and the way of decisions to them. */
export class SubAgents {
  /** The number of sessions above this one. */
  readonly depth: number;
  readonly #host: SubAgentsHost;
  /** The call that runs this session; undefined for a session that no call runs. */
  readonly #call: SubAgentCall | undefined;
  readonly #isTask: boolean;
  /** What waits for it is forgotten with this session. */
  readonly #never = new Promise<never>(() => undefined);
  /** By the call that runs them: a tool may run several agents in one call. */
  readonly #children = new Map<string, Set<ChildSession>>();
  /** How to close the sessions of sub-agents that are open or being opened. */
  readonly #closes = new Set<() => Promise<void>>();

  constructor(agent: Pick<Agent<unknown>, "parts">, host: SubAgentsHost) {
    this.#host = host;
    this.#call = calls.get(agent);
    this.#isTask = withoutOthers.has(agent);
    this.depth = (this.#call?.caller?.depth ?? -1) + 1;
  }

  /** The sub-agents of the session that a call belongs to; undefined for a call without a session. */
  static of(context: ToolContext): SubAgents | undefined {
    const session = callHostOf(context)?.session;
    return session instanceof SubAgents ? session : undefined;
  }

  /**
   * Resolves when work may begin here if nothing else holds it then; undefined if nothing above this session holds it. Once the call of this
   * session was aborted, it never resolves: its own cancel follows, or it is closed.
   */
  heldAbove(isStarted: boolean): Promise<void> | undefined {
    const { caller, signal } = this.#call ?? {};
    if (signal?.aborted === true) return this.#never;
    return caller === undefined ? undefined : caller.#host.hold(isStarted);
  }

  /** Makes the sessions of an agent those of a call: once it is aborted, nothing begins in them. The agent must be a copy for one call. */
  static adopt(agent: Pick<Agent<unknown>, "parts">, call: SubAgentCall): void {
    calls.set(agent, call);
  }

  /** Whether this session is that of a call, or of `runTask`. */
  get endsWithTask(): boolean {
    return this.#call !== undefined || this.#host.rejectsWithoutReviewer;
  }

  get onLog(): LogListener | undefined {
    return this.#host.onLog;
  }

  /** Whether a question on which `onApproval` fails is refused: below a task, or without a session above, no other reviewer answers. */
  get hasOneReviewer(): boolean {
    if (this.#isTask || this.#host.rejectsWithoutReviewer) return true;
    return this.#call !== undefined && (this.#call.caller?.hasOneReviewer ?? true);
  }

  get report(): (report: ErrorReport) => void {
    return this.#host.report;
  }

  /** Answers the questions of the sub-agent of a call as the host of this session would; undefined if they wait for `decide`. */
  reviewerOf(toolCallId: string): OnApproval | undefined {
    const { onApproval, rejectsWithoutReviewer, hasNoReviewer } = this.#host;
    if (onApproval !== undefined) return (question) => onApproval(below(toolCallId, question));
    if (!rejectsWithoutReviewer) return undefined;
    return (question) => (hasNoReviewer() ? refusalWithoutReviewer(question) : new Promise(() => undefined));
  }

  /** Shows the events and questions of a session here until the returned function is called. */
  attach(toolCallId: string, child: ChildSession): () => void {
    const children = this.#children.get(toolCallId) ?? new Set();
    this.#children.set(toolCallId, children.add(child));
    const unsubscribe = child.onEvent((event) => this.#host.emit(toSubAgentEvent(toolCallId, event)));
    return () => {
      unsubscribe();
      children.delete(child);
      if (children.size === 0 && this.#children.get(toolCallId) === children)
        this.#children.delete(toolCallId);
    };
  }

  /** Closes the session of a sub-agent when this one closes, until the returned function is called. */
  closeWith(close: () => Promise<void>): () => void {
    this.#closes.add(close);
    return () => void this.#closes.delete(close);
  }

  /** Closes the sessions of all sub-agents. The stop of this session has aborted their calls, which report what fails. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#closes].map((close) => close()));
  }

  /** Watches the pauses of this session, from before the session of a sub-agent is opened. */
  watchPauses(): CallerPauses {
    return new CallerPauses(this.#host);
  }

  /** A question waits for `decide` of this session: checks that a process shows it, here or above. */
  watch(): void {
    const { onApproval, rejectsWithoutReviewer, watch } = this.#host;
    if (onApproval !== undefined || rejectsWithoutReviewer) return;
    const above = this.#call?.caller;
    if (above === undefined) watch();
    else above.watch();
  }

  /** The sessions of the sub-agents in this process, by the calls that run them. */
  get children(): ReadonlyMap<string, ReadonlySet<ChildSession>> {
    return this.#children;
  }

  /** The open questions of all sub-agents. */
  questions(): readonly Question[] {
    return [...this.#children].flatMap(([toolCallId, children]) =>
      [...children].flatMap((child) => child.questions().map((question) => below(toolCallId, question))),
    );
  }

  /**
   * Gives a decision to the session at the end of a path: to that of this process, or by its log to that of another one. The
   * session checks that the question is its own.
   */
  async decide(
    { path: [toolCallId = "", ...rest], ...question }: QuestionBelow,
    decision: Decision,
    by?: string,
  ): Promise<Receipt> {
    const children = [...(this.#children.get(toolCallId) ?? [])];
    const asked = rest.length === 0 ? question : { ...question, path: rest };
    const child = childThatAsks(children, asked) ?? children[0];
    if (child !== undefined) return await child.decide(asked, decision, by);
    const { tool, idempotencyKey } = this.#host.callOf(toolCallId);
    const posted = tool === undefined ? undefined : await openToPost(tool, { idempotencyKey });
    if (posted === undefined) return { status: "ignored", reason: "no-sub-agent" };
    try {
      return await posted.session.decide(asked, decision, by);
    } finally {
      await posted.session.close();
    }
  }
}

type QuestionRef = Pick<Question, "toolCallId" | "digest" | "path">;

type QuestionBelow = QuestionRef & Required<Pick<Question, "path">>;

/** The session with a question: the very one, else one about the same call, which refuses a decision about something else. */
function childThatAsks(children: readonly ChildSession[], asked: QuestionRef): ChildSession | undefined {
  const key = questionKey(asked);
  const asks = (child: ChildSession): readonly Question[] =>
    child.questions().filter((question) => questionKey(question) === key);
  return (
    children.find((child) => asks(child).some(({ digest }) => digest === asked.digest)) ??
    children.find((child) => asks(child).length > 0)
  );
}

/** A question of the sub-agent of a call, as its caller shows it. */
export const below = <Asked extends Question>(toolCallId: string, question: Asked): Asked => ({
  ...question,
  path: [toolCallId, ...(question.path ?? [])],
});

function toSubAgentEvent(toolCallId: string, given: AgentEvent<unknown>): SubAgentEvent {
  const isNested = given.type === "SubAgentEvent";
  const event = isNested ? given.event : given;
  return {
    type: "SubAgentEvent",
    toolCallId,
    path: [toolCallId, ...(isNested ? given.path : [])],
    event: event.type === "ApprovalRequested" ? below(toolCallId, event) : event,
  };
}
