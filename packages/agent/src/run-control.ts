import type { AgentError } from "@moora/agent-core-effects";
import {
  showSameQuestion,
  type AgentEvent,
  type ApprovalRequested,
  type SubAgentEvent,
} from "./agent-event.ts";
import type { AgentRun, RunResult } from "./agent-run.ts";
import { EventBuffer } from "./event-buffer.ts";
import { eventsToText } from "./events-to-text.ts";
import type { ToolCallStarted } from "./started-calls.ts";

/** The session's side of a run: emits its events and settles it. */
export class RunControl<Answer = string> {
  /** The run that the application receives. */
  readonly run: AgentRun<Answer>;
  /** Where the run was begun. */
  readonly #begun = new Error();
  readonly #outcome = Promise.withResolvers<RunResult<Answer>>();
  readonly #readers = new Set<EventReader<Answer>>();
  #buffer: EventBuffer<Answer> | undefined = new EventBuffer();
  #isEnded = false;
  /** The last event of a run that has ended, for readers of its text that begin late. */
  #last: readonly AgentEvent<Answer>[] = [];
  #onEnd: (() => void) | undefined;
  #onUnwatched: (() => void) | undefined;
  readonly #open: () => readonly OpenEvent[];

  /** `open` returns what a new iterator receives first: the starts of the calls that run, and the open questions. */
  constructor(cancel: (reason?: string) => void, open: () => readonly OpenEvent[] = () => []) {
    this.#open = open;
    this.#outcome.promise.catch(() => undefined);
    this.run = new ControlledRun({
      cancel,
      result: () => this.#result(),
      events: (seesQuestions) => this.#events(seesQuestions),
    });
  }

  /** Whether an iterator over the events is open, whose reader can answer questions. */
  get isWatched(): boolean {
    return [...this.#readers].some(({ seesQuestions }) => seesQuestions);
  }

  /** Whether events of the run are buffered or read. */
  get isObserved(): boolean {
    return this.#buffer !== undefined || this.#readers.size > 0;
  }

  /** Calls `ended` once when the run has ended, and `unwatched` each time its last iterator is closed. */
  observe({ ended, unwatched }: { readonly ended: () => void; readonly unwatched: () => void }): void {
    if (this.#isEnded) return ended();
    this.#onEnd = ended;
    this.#onUnwatched = unwatched;
  }

  emit(event: AgentEvent<Answer>): void {
    if (this.#isEnded) return;
    this.#buffer?.push(event);
    for (const reader of this.#readers) reader.push(event);
  }

  succeed(result: RunResult<Answer>): void {
    if (this.#isEnded) return;
    this.#finish({ type: "FinalAnswer", answer: result.answer, text: result.text });
    this.#outcome.resolve(result);
  }

  /** Ends the run with an error for its events. `thrown` is what its promise rejects with; default: the same error. */
  fail(error: AgentError, thrown: Error = error): void {
    if (this.#isEnded) return;
    showCaller(thrown, this.#begun);
    this.#finish({ type: "Error", error });
    this.#outcome.reject(thrown);
  }

  /** The promise of the result, for a caller that waits for it. */
  #result(): Promise<RunResult<Answer>> {
    // Deferred, so that the code after this call can still create an iterator that receives everything.
    queueMicrotask(() => (this.#buffer = undefined));
    return this.#outcome.promise;
  }

  #events(seesQuestions: boolean): AsyncIterator<AgentEvent<Answer>, undefined> {
    const reader = new EventReader<Answer>(seesQuestions, () => {
      if (this.#readers.delete(reader) && seesQuestions && !this.isWatched) this.#onUnwatched?.();
    });
    for (const event of this.#unread(seesQuestions ? [] : this.#last)) reader.push(event);
    this.#buffer = undefined;
    if (this.#isEnded) reader.end();
    else this.#readers.add(reader);
    return reader;
  }

  /** The first events of a new iterator: the starts of the calls that run, the open questions, the buffered events, or else `last`. */
  #unread(last: readonly AgentEvent<Answer>[]): readonly AgentEvent<Answer>[] {
    const buffered = this.#buffer?.unread ?? last;
    if (this.#isEnded) return buffered;
    const isBuffered = (open: OpenEvent): boolean => buffered.some((event) => isAboutSame(event, open));
    return [...this.#open().filter((open) => !isBuffered(open)), ...buffered];
  }

  #finish(last: AgentEvent<Answer>): void {
    this.emit(last);
    this.#last = [last];
    this.#isEnded = true;
    for (const reader of this.#readers) reader.end();
    this.#readers.clear();
    this.#onEnd?.();
    this.#onEnd = undefined;
    this.#onUnwatched = undefined;
  }
}

/**
 * Gives an error the frames of the code that began its run, in place of those of the loop that failed, which say nothing about it. An
 * error of several runs has those of each.
 */
function showCaller(error: Error, begun: Error): void {
  const frames = begun.stack?.replace(/^Error.*\n/, "") ?? "";
  const { stack = "" } = error;
  error.stack = withCaller.has(error) ? `${stack}\n${frames}` : `${error.name}: ${error.message}\n${frames}`;
  withCaller.add(error);
}

const withCaller = new WeakSet<Error>();

/** An event about work that is still open. */
type OpenEvent = ToolCallStarted | ApprovalRequested | SubAgentEvent;

interface RunSource<Answer> {
  readonly cancel: (reason?: string) => void;
  readonly result: () => Promise<RunResult<Answer>>;
  readonly events: (seesQuestions: boolean) => AsyncIterator<AgentEvent<Answer>, undefined>;
}

/** The run as applications see it: they cannot settle it. */
class ControlledRun<Answer> implements AgentRun<Answer> {
  readonly cancel: (reason?: string) => void;
  readonly textStream: AsyncIterable<string>;
  readonly #source: RunSource<Answer>;

  constructor(source: RunSource<Answer>) {
    this.cancel = source.cancel;
    this.textStream = eventsToText({ [Symbol.asyncIterator]: () => source.events(false) });
    this.#source = source;
  }

  get [Symbol.toStringTag](): string {
    return "AgentRun";
  }

  // A run is a thenable on purpose: `await runTask(...)` gives the result.
  // oxlint-disable-next-line unicorn/no-thenable
  then<Done = RunResult<Answer>, Failed = never>(
    onDone?: ((result: RunResult<Answer>) => Done | PromiseLike<Done>) | null,
    onFailed?: ((error: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<Done | Failed> {
    return this.#source.result().then(onDone, onFailed);
  }

  catch<Failed = never>(
    onFailed?: ((error: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<RunResult<Answer> | Failed> {
    return this.#source.result().catch(onFailed);
  }

  finally(onEnd?: (() => void) | null): Promise<RunResult<Answer>> {
    return this.#source.result().finally(onEnd);
  }

  [Symbol.asyncIterator](): AsyncIterator<AgentEvent<Answer>, undefined> {
    return this.#source.events(true);
  }
}

/** Whether an event is about the same start of a call, or the same question. */
function isAboutSame(event: AgentEvent<unknown>, open: OpenEvent): boolean {
  if (event.type === "ToolCallStarted")
    return open.type === event.type && open.toolCallId === event.toolCallId;
  return showSameQuestion(event, open);
}

/** An iterator over events that buffers those that its reader has not taken yet. */
class EventReader<Answer> implements AsyncIterator<AgentEvent<Answer>, undefined> {
  readonly #buffer = new EventBuffer<Answer>();
  #waiting: ((result: IteratorResult<AgentEvent<Answer>, undefined>) => void)[] = [];
  #isEnded = false;
  /** Whether its reader can answer questions. */
  readonly seesQuestions: boolean;
  readonly #onReturn: () => void;

  constructor(seesQuestions: boolean, onReturn: () => void) {
    this.seesQuestions = seesQuestions;
    this.#onReturn = onReturn;
  }

  push(event: AgentEvent<Answer>): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#buffer.push(event);
    else waiting({ done: false, value: event });
  }

  end(): void {
    this.#isEnded = true;
    for (const waiting of this.#waiting.splice(0)) waiting({ done: true, value: undefined });
  }

  next(): Promise<IteratorResult<AgentEvent<Answer>, undefined>> {
    const event = this.#buffer.shift();
    if (event !== undefined) return Promise.resolve({ done: false, value: event });
    if (this.#isEnded) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }

  return(): Promise<IteratorResult<AgentEvent<Answer>, undefined>> {
    this.#onReturn();
    this.end();
    this.#buffer.clear();
    return Promise.resolve({ done: true, value: undefined });
  }
}
