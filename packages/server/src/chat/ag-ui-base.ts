import type { AgentInput, AgentState, DurableSession, Json } from "@moora/agent";
import { applyPatches, beginReplay, dataOf, headerToState } from "@moora/agent/internal";
import type { PostedState } from "./ag-ui-request.ts";
import { callsMessageId, resultMessageId, textMessageId } from "./ag-ui-ids.ts";
import { endOf } from "./loop-end.ts";

/** Application data, with the version of its schema. */
export interface VersionedData {
  readonly data: Json;
  readonly version: number;
}

/** What the application data was while a client may have seen it. */
export interface SeenData {
  /**
   * What it was since the client has certainly seen it, in order, up to the end of its newest run, as far as it is in the log. Empty
   * for a session without data.
   */
  readonly untilEnd: readonly VersionedData[];
  /** Those that the client may have been sent: the first one, and those of its runs. */
  readonly maybeSeen: readonly VersionedData[];
  /**
   * The versions of the data in the newest run, beginning with the later of its first version and the first one that the client has
   * certainly seen. Empty if no run has begun.
   */
  readonly inRun: readonly VersionedData[];
  /** What it was after that run, up to now. The client was not sent these in a run. */
  readonly later: readonly VersionedData[];
  /** Whether the client seems to have the whole of that run: the last version of `untilEnd` is what it has changed. */
  readonly isWhole: boolean;
}

/** What a client posts, as far as it shows what the client has seen. */
export interface SeenOptions extends Pick<PostedState, "messages" | "isResumed"> {
  /** Whether an input is a change that this client has posted. */
  readonly isOwn: (input: AgentInput) => boolean;
}

type SessionReader = Pick<DurableSession<unknown>, "header" | "history" | "current">;

/**
 * Finds what a client has seen of the application data. A message of the model shows that the client has seen the data from before
 * it, a result that of its call. A client without either is taken to have seen the initial data. A run is one of the client if the
 * client posts a message of it, also that of the user. The client seems to have the whole run if it has the last message or result that
 * was recorded in it, with its whole text, and after a run without any; not after one that was canceled.
 */
export async function seenData(session: SessionReader, options: SeenOptions): Promise<SeenData> {
  const reader = new SeenReader(session, options);
  for (const { input } of await session.history()) reader.read(input);
  return reader.seen();
}

/** The part of a log that the stream of one run shows: up to the end of its loop, or until only a human is waited for. */
interface Run {
  /** The first and the last version of the data in it. */
  readonly start: number;
  end: number;
  /** Whether the client has a message of it. */
  isKnown: boolean;
  /** Whether the client has the last one of its messages and results. */
  hasLast: boolean;
  isOver: boolean;
  isCancelled: boolean;
  /** Whether the rest of it is not what the client has answered. */
  isLeft: boolean;
  /** Whether it is a change that the client has posted before its run began. */
  readonly isChange: boolean;
}

class SeenReader {
  readonly #options: SeenOptions;
  readonly #answers: ReadonlyMap<string, string>;
  readonly #replay: ReturnType<typeof beginReplay>;
  readonly #versions: VersionedData[] = [];
  readonly #known = new Set<Run>();
  #state: AgentState;
  #run: Run | undefined;
  #newest: Run | undefined;
  /** The first version that the client may have. */
  #first = 0;
  /** The version when the newest call of the model began. */
  #atCall = 0;

  constructor({ header, current }: SessionReader, options: SeenOptions) {
    this.#options = options;
    this.#answers = new Map(current().messages.map(({ id, content }) => [id, content]));
    this.#state = headerToState(header);
    this.#replay = beginReplay(this.#state);
    this.#dataRead();
  }

  get #now(): number {
    return this.#versions.length - 1;
  }

  read(input: AgentInput): void {
    const wasAtRest = isAtRest(this.#state);
    if (this.#replay.apply(input) === undefined) return;
    this.#state = this.#replay.state();
    const isOwn = this.#options.isOwn(input);
    if (isOwn) this.#ownChange(input);
    this.#dataRead();
    if (input.type === "llm-call-started") this.#atCall = this.#now;
    if (isOwn) this.#runKnown({ ...this.#newRun(), isOver: true, isChange: true });
    const isPost = startsRun(input);
    if (wasAtRest && (isPost || isWork(input))) this.#run = this.#newRun();
    const run = this.#run;
    if (run === undefined || run.isOver) return;
    if (this.#options.isResumed && run.isKnown && (isPost || input.type === "deadline-passed"))
      run.isLeft = true;
    if (input.type === "user-message-received" && this.#options.messages.has(input.messageId))
      this.#runKnown(run);
    this.#shown(run, input);
    if (!run.isLeft && isWork(input)) run.end = this.#now;
    run.isOver = isAtRest(this.#state);
    run.isCancelled = isCancelled(this.#state);
  }

  seen(): SeenData {
    const newest = this.#newest;
    const { isResumed } = this.#options;
    // What is still running may have sent everything up to now.
    if (newest?.isOver === false && !isResumed) newest.end = this.#now;
    const end = Math.max(newest?.end ?? 0, this.#first);
    const maybe = new Set([this.#first]);
    for (const { start, end: last } of this.#known)
      for (let index = Math.max(start, this.#first); index <= last; index += 1) maybe.add(index);
    return {
      untilEnd: this.#versions.slice(this.#first, end + 1),
      inRun:
        newest === undefined || newest.isChange
          ? []
          : this.#versions.slice(Math.max(newest.start, this.#first), end + 1),
      maybeSeen: this.#versions.filter((_, index) => maybe.has(index)),
      later: this.#versions.slice(end + 1),
      isWhole:
        newest !== undefined && !newest.isCancelled && (isResumed || (newest.isOver && newest.hasLast)),
    };
  }

  #dataRead(): void {
    const { dataStatus } = this.#state;
    if (dataStatus === null) return;
    const last = this.#versions.at(-1);
    const data = dataOf(this.#state);
    const { version } = dataStatus;
    if (last?.data !== data || last.version !== version) this.#versions.push({ data, version });
  }

  /** The client has made this change: whatever it may have seen of the data, it has that, too. */
  #ownChange(input: AgentInput): void {
    const patches = "patches" in input ? (input.patches ?? []) : [];
    // Those before the first one are not asked for again: a session of many changes would cost their square.
    for (let index = this.#first; index < this.#versions.length; index += 1) {
      const shown = this.#versions[index];
      if (shown !== undefined)
        this.#versions[index] = { ...shown, data: applyPatches(shown.data, patches) ?? shown.data };
    }
  }

  #newRun(): Run {
    const at = Math.max(this.#now, 0);
    const flags = { isKnown: false, isOver: false, isCancelled: false, isLeft: false, isChange: false };
    return { start: at, end: at, hasLast: true, ...flags };
  }

  #runKnown(run: Run): void {
    run.isKnown = true;
    this.#known.add(run);
    this.#newest = run;
  }

  /** Takes what an input shows, and what the client has of it. */
  #shown(run: Run, input: AgentInput): void {
    const { messages, isResumed } = this.#options;
    if (shownBy(input).some((id) => messages.has(id))) {
      this.#first = Math.max(this.#first, input.type === "re-act-observed" ? this.#atCall : this.#now);
      this.#runKnown(run);
    }
    const isHeld = this.#isHeld(input);
    if (isHeld === undefined) return;
    run.hasLast = isHeld;
    if (isResumed && run.isKnown && !isHeld) run.isLeft = true;
  }

  /** Whether the client has the whole message or result that an input completes; undefined if it completes none. */
  #isHeld(input: AgentInput): boolean | undefined {
    const { messages } = this.#options;
    if (input.type === "tool-call-completed" || input.type === "tool-call-decided") {
      const { toolCallId } = input;
      const hasResult = this.#state.toolCalls[toolCallId]?.result != null;
      return hasResult ? messages.has(resultMessageId(toolCallId)) : undefined;
    }
    if (input.type !== "re-act-observed") return undefined;
    const id = input.key === undefined ? undefined : textMessageId(input.key);
    const text = id === undefined ? "" : (this.#answers.get(id) ?? "");
    const isText = text !== "" && id !== undefined;
    if (input.observation.type === "continue-re-act" && shownBy(input).some((shown) => messages.has(shown)))
      return true;
    if (isText) return messages.get(id) === text;
    return input.observation.type === "continue-re-act" ? false : undefined;
  }
}

/** Whether no work is left, or only a human is waited for: a run ends here. Sub-agents that ask are not known here. */
const isAtRest = (state: AgentState): boolean => endOf(state, []) !== undefined;

const isCancelled = ({ reActContext: { control } }: AgentState): boolean =>
  control.type === "Error" && control.failure.kind === "Cancelled";

/** The ids of the messages that a client gets after an input. Those of users show only that they were sent. */
function shownBy(input: AgentInput): readonly string[] {
  if (input.type === "llm-call-started") {
    const id = textMessageId(input.key);
    return id === undefined ? [] : [id];
  }
  if (input.type === "tool-call-completed" || input.type === "tool-call-decided")
    return [resultMessageId(input.toolCallId)];
  if (input.type !== "re-act-observed" || input.observation.type !== "continue-re-act") return [];
  return Object.keys(input.observation.toolCalls).map(callsMessageId);
}

/** Whether an input is the post with which a run of a client begins. */
const startsRun = ({ type }: AgentInput): boolean =>
  type === "user-message-received" || type === "tool-call-decided" || type === "loop-retried";

/** Inputs that others may post, also after the end of a run. */
const postedTypes: ReadonlySet<AgentInput["type"]> = new Set([
  "user-message-received",
  "tool-call-decided",
  "re-act-cancelled",
  "session-paused",
  "session-resumed",
  "loop-retried",
  "session-opened",
  "agent-configured",
  "context-note-added",
  "snapshot-taken",
  "usage-reported",
]);

/** Whether an input is a part of the work of a run. */
const isWork = (input: AgentInput): boolean =>
  input.type === "data-changed"
    ? input.toolCallId !== undefined || input.key !== undefined
    : !postedTypes.has(input.type);
