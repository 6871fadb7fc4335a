import type { AgentState, AgentUsage, Trace } from "@moora/agent-core-state-machine";
import type { AgentError } from "./agent-error.ts";
import type { AgentEvent } from "./agent-event.ts";

/** What one loop came to. `usage` is the loop's own, `state` the whole conversation. */
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
 * A loop under way: await it for its result, or go through its events, or both. It runs whether or not anybody does.
 * Events wait from the beginning for the first who asks for them; where it is awaited and nobody has asked by then, they
 * are let go. Whoever asks later gets those from then on.
 */
export class AgentRun<Answer = string>
  implements PromiseLike<RunResult<Answer>>, AsyncIterable<AgentEvent<Answer>>
{
  private readonly outcome = Promise.withResolvers<RunResult<Answer>>();
  private readonly readers = new Set<EventReader<AgentEvent<Answer>>>();
  private early: AgentEvent<Answer>[] | undefined = [];
  private ended = false;
  private onEnd: (() => void) | undefined;
  private onUnwatched: (() => void) | undefined;
  /** Ends the loop; its events then end in an error of kind `Cancelled`. */
  readonly cancel: (reason?: string) => void;

  constructor(cancel: (reason?: string) => void) {
    this.cancel = cancel;
    this.outcome.promise.catch(() => undefined);
  }

  // A thenable is what this is for: `await runTask(...)` gives the result.
  // oxlint-disable-next-line unicorn/no-thenable
  then<Done = RunResult<Answer>, Failed = never>(
    onDone?: ((result: RunResult<Answer>) => Done | PromiseLike<Done>) | null,
    onFailed?: ((error: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<Done | Failed> {
    // Not at once: the next line of who awaits may begin to go through the events.
    queueMicrotask(() => (this.early = undefined));
    return this.outcome.promise.then(onDone, onFailed);
  }

  [Symbol.asyncIterator](): AsyncIterator<AgentEvent<Answer>, undefined> {
    const reader = new EventReader<AgentEvent<Answer>>(() => {
      if (this.readers.delete(reader) && this.readers.size === 0) this.onUnwatched?.();
    });
    for (const event of this.early ?? []) reader.push(event);
    this.early = undefined;
    if (this.ended) reader.end();
    else this.readers.add(reader);
    return reader;
  }

  /** Whether somebody goes through the events, and so can answer what is asked. */
  get isWatched(): boolean {
    return this.readers.size > 0;
  }

  /** For the one who runs it: `ended` is called once, `unwatched` whenever the last who went through the events left. */
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

/** One who goes through events at his own pace. */
class EventReader<Event> implements AsyncIterator<Event, undefined> {
  private events: Event[] = [];
  private position = 0;
  private waiting: ((result: IteratorResult<Event, undefined>) => void)[] = [];
  private over = false;
  private readonly onReturn: () => void;

  constructor(onReturn: () => void) {
    this.onReturn = onReturn;
  }

  push(event: Event): void {
    const waiting = this.waiting.shift();
    if (waiting === undefined) this.events.push(event);
    else waiting({ done: false, value: event });
  }

  end(): void {
    this.over = true;
    for (const waiting of this.waiting.splice(0)) waiting({ done: true, value: undefined });
  }

  next(): Promise<IteratorResult<Event, undefined>> {
    const event = this.events[this.position];
    if (event !== undefined) {
      this.position += 1;
      if (this.position === this.events.length) {
        this.events = [];
        this.position = 0;
      }
      return Promise.resolve({ done: false, value: event });
    }
    if (this.over) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => void this.waiting.push(resolve));
  }

  return(): Promise<IteratorResult<Event, undefined>> {
    this.onReturn();
    this.end();
    this.events = [];
    return Promise.resolve({ done: true, value: undefined });
  }
}
