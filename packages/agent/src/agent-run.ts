import type { AgentError } from "@moora/agent-core-effects";
import type { AgentState, AgentUsage, Trace } from "@moora/agent-core-state-machine";
import type { AgentEvent, ApprovalRequested } from "./agent-event.ts";
import { EventBuffer } from "./event-buffer.ts";

/** The answer to a message. `steps` and `usage` are those of its loop so far, `state` is the whole conversation. */
export interface RunResult<Answer = string> {
  readonly answer: Answer;
  /** The text of the answer, as the model gave it. */
  readonly text: string;
  readonly steps: number;
  readonly usage: AgentUsage;
  readonly state: AgentState;
  readonly trace: Trace;
}

/**
 * A message on its way to its answer: await it for the result, iterate over its events, or both. It runs whether or not
 * that is done.
 *
 * Events are kept until the first iterator is created, and an iterator keeps those that it has not read: up to a thousand,
 * beyond that as `EventBuffer` says. If the run is awaited and no iterator was created by then, they are dropped, and a
 * later iterator hears new events only. Every iterator hears the questions first that are open when it is created.
 */
export class AgentRun<Answer = string>
  implements PromiseLike<RunResult<Answer>>, AsyncIterable<AgentEvent<Answer>>
{
  private readonly outcome = Promise.withResolvers<RunResult<Answer>>();
  private readonly readers = new Set<EventReader<Answer>>();
  private early: EventBuffer<Answer> | undefined = new EventBuffer();
  private ended = false;
  private onEnd: (() => void) | undefined;
  private onUnwatched: (() => void) | undefined;
  private readonly openQuestions: () => readonly ApprovalRequested[];
  /** Ends the loop that the message is in; the run then ends in an error of kind `Cancelled`. */
  readonly cancel: (reason?: string) => void;

  constructor(
    cancel: (reason?: string) => void,
    openQuestions: () => readonly ApprovalRequested[] = () => [],
  ) {
    this.cancel = cancel;
    this.openQuestions = openQuestions;
    this.outcome.promise.catch(() => undefined);
  }

  // A thenable is what this is for: `await runTask(...)` gives the result.
  // oxlint-disable-next-line unicorn/no-thenable
  then<Done = RunResult<Answer>, Failed = never>(
    onDone?: ((result: RunResult<Answer>) => Done | PromiseLike<Done>) | null,
    onFailed?: ((error: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<Done | Failed> {
    // Deferred, so that the code after this call can still create an iterator that hears everything.
    queueMicrotask(() => (this.early = undefined));
    return this.outcome.promise.then(onDone, onFailed);
  }

  [Symbol.asyncIterator](): AsyncIterator<AgentEvent<Answer>, undefined> {
    const reader = new EventReader<Answer>(() => {
      if (this.readers.delete(reader) && this.readers.size === 0) this.onUnwatched?.();
    });
    for (const event of this.unheard()) reader.push(event);
    this.early = undefined;
    if (this.ended) reader.end();
    else this.readers.add(reader);
    return reader;
  }

  /** What a new iterator hears first: the open questions, and the events that were kept for it. */
  private unheard(): readonly AgentEvent<Answer>[] {
    const kept = this.early?.unread ?? [];
    if (this.ended) return kept;
    const isKept = (question: ApprovalRequested): boolean =>
      kept.some((event) => event.type === "ApprovalRequested" && isSameQuestion(event, question));
    return [...this.openQuestions().filter((question) => !isKept(question)), ...kept];
  }

  /** Whether something iterates over the events, and so can answer what is asked. */
  get isWatched(): boolean {
    return this.readers.size > 0;
  }

  /** For the host of the run: `ended` is called once, `unwatched` whenever the last iterator was left. */
  observe({ ended, unwatched }: { readonly ended: () => void; readonly unwatched: () => void }): void {
    if (this.ended) return ended();
    this.onEnd = ended;
    this.onUnwatched = unwatched;
  }

  /** For the session that runs it. */
  tell(event: AgentEvent<Answer>): void {
    if (this.ended) return;
    this.early?.push(event);
    for (const reader of this.readers) reader.push(event);
  }

  /** For the session that runs it. */
  succeed(result: RunResult<Answer>): void {
    if (this.ended) return;
    this.tell({ type: "FinalAnswer", answer: result.answer, text: result.text });
    this.finish();
    this.outcome.resolve(result);
  }

  /** For the session that runs it. */
  fail(error: AgentError): void {
    if (this.ended) return;
    this.tell({ type: "Error", error });
    this.finish();
    this.outcome.reject(error);
  }

  private finish(): void {
    this.ended = true;
    for (const reader of this.readers) reader.end();
    this.readers.clear();
    this.onEnd?.();
    this.onEnd = undefined;
    this.onUnwatched = undefined;
  }
}

const isSameQuestion = (one: ApprovalRequested, other: ApprovalRequested): boolean =>
  one.toolCallId === other.toolCallId && one.digest === other.digest;

/** An iterator over events, at the pace of its reader. */
class EventReader<Answer> implements AsyncIterator<AgentEvent<Answer>, undefined> {
  private readonly unread = new EventBuffer<Answer>();
  private waiting: ((result: IteratorResult<AgentEvent<Answer>, undefined>) => void)[] = [];
  private over = false;
  private readonly onReturn: () => void;

  constructor(onReturn: () => void) {
    this.onReturn = onReturn;
  }

  push(event: AgentEvent<Answer>): void {
    const waiting = this.waiting.shift();
    if (waiting === undefined) this.unread.push(event);
    else waiting({ done: false, value: event });
  }

  end(): void {
    this.over = true;
    for (const waiting of this.waiting.splice(0)) waiting({ done: true, value: undefined });
  }

  next(): Promise<IteratorResult<AgentEvent<Answer>, undefined>> {
    const event = this.unread.shift();
    if (event !== undefined) return Promise.resolve({ done: false, value: event });
    if (this.over) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => void this.waiting.push(resolve));
  }

  return(): Promise<IteratorResult<AgentEvent<Answer>, undefined>> {
    this.onReturn();
    this.end();
    this.unread.clear();
    return Promise.resolve({ done: true, value: undefined });
  }
}
