import {
  SessionError,
  type Agent,
  type AgentEvent,
  type AgentInput,
  type AgentState,
  type DurableSession,
  type ErrorReport,
  type Question,
} from "@moora/agent";
import type { SessionRef } from "../access/grant.ts";
import { LiveLink } from "../live/live-link.ts";
import { sessionNotFound } from "../problem.ts";
import { viewerUrl } from "../files/viewer-urls.ts";
import type { ToolParts } from "../chat/ui-chunk.ts";
import type { ServerContext } from "../server-options.ts";
import { DataPosition } from "./data-position.ts";
import { isOfSubAgent } from "./session-header.ts";
import { openAny, openResting, type Opening } from "./open-durable.ts";
import { whenDue, whenLeft } from "./reopen-poll.ts";

/** What listens to a live session. */
export interface LiveListener {
  readonly onInput?: (input: AgentInput, state: AgentState, seq: number) => void;
  /** First called with the open questions. */
  readonly onEvent?: (event: AgentEvent<unknown>) => void;
  /** Another `DurableSession` is behind the session: another process may have recorded inputs that were not seen one by one. */
  readonly onReplaced?: () => void;
  /** The session was closed or removed. */
  readonly onEnded?: () => void;
}

/**
 * A session of this server. It runs the session, or posts to the process that runs it and takes over when the lease of that
 * process ends. To the session of a sub-agent it only posts. One that is only read, and has no work, rests: it has no owner, and nothing is
 * appended to its log, until its work is due or it is claimed. The `DurableSession` behind it is replaced by such a change.
 */
export class LiveSession {
  readonly ref: SessionRef;
  readonly agent: Agent<unknown>;
  /** What the session streams to viewers. */
  readonly stream: LiveLink;
  readonly #context: ServerContext;
  readonly #listeners = new Set<{ readonly replaced: () => void; readonly ended: () => void }>();
  #session: DurableSession<unknown> | undefined;
  #cancelPoll: () => void = () => undefined;
  #changing: Promise<void> | undefined;
  #onlyReads = false;
  /** Whether it is only read. */
  #rests = false;
  /** Whether it is the session of a sub-agent, which the process runs that runs its caller. */
  #isOfSubAgent = false;
  #isEnded = false;
  /** The questions that were shown since this session is behind, by their digests. */
  #asked = new Map<string, Pick<Question, "path">>();

  private constructor(context: ServerContext, agent: Agent<unknown>, ref: SessionRef) {
    this.#context = context;
    this.agent = agent;
    this.ref = ref;
    this.stream = new LiveLink(context.liveHub, context.limits.maxBufferedBytes);
    this.stream.onEvent((event) => this.#noteQuestion(event));
  }

  /** Opens a session; one that exists, to read it, if `isRead`. */
  static async open(
    context: ServerContext,
    agent: Agent<unknown>,
    ref: SessionRef,
    isRead: boolean,
  ): Promise<LiveSession> {
    const live = new LiveSession(context, agent, ref);
    const log = await context.log.open(ref.id);
    live.#isOfSubAgent = log !== undefined && isOfSubAgent(log.header);
    const resting = isRead ? await openResting(live.#opening) : undefined;
    live.#rests = resting !== undefined;
    live.#adopt(resting ?? (await openAny(live.#opening)));
    return live;
  }

  get #opening(): Opening {
    return {
      context: this.#context,
      agent: this.agent,
      ref: this.ref,
      isOfSubAgent: this.#isOfSubAgent,
      onError: (report) => this.#failed(report),
    };
  }

  /** Runs a session that rests, or posts to the process that runs it meanwhile. */
  async claim(): Promise<void> {
    await this.#changing;
    if (this.#rests) await this.#reopen();
  }

  get session(): DurableSession<unknown> {
    if (this.#session === undefined) throw new Error("The session is not open yet.");
    return this.#session;
  }

  /** Whether this server runs the session. */
  get isOwner(): boolean {
    return this.session.info().access === "run";
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Whether a question was shown in this process: if it is not open any more, it is closed. */
  hasAsked(digest: string): boolean {
    const asked = this.#asked.get(digest);
    return asked !== undefined && (asked.path === undefined || this.stream.hasQuestions);
  }

  /** Listens to the `DurableSession` behind this session, and to each one that replaces it. Returns a function that unsubscribes. */
  listen({ onInput, onEvent, onReplaced, onEnded }: LiveListener): () => void {
    let stops: readonly (() => void)[] = [];
    const detach = (): void => {
      for (const stop of stops) stop();
    };
    const attach = (): void => {
      detach();
      const { session } = this;
      stops = [
        ...(onInput === undefined ? [] : [session.onInput(onInput)]),
        ...(onEvent === undefined ? [] : [session.onEvent(onEvent)]),
      ];
    };
    const replaced = (): void => {
      attach();
      onReplaced?.();
    };
    const listener = { replaced, ended: () => onEnded?.() };
    this.#listeners.add(listener);
    attach();
    const leave = onEvent && this.stream.onEvent(onEvent);
    return () => {
      this.#listeners.delete(listener);
      leave?.();
      detach();
    };
  }

  /**
   * Runs a post; once more, as a repetition, if the session changed its owner in the middle of it. The log may contain the post
   * then: `work` must be safe to repeat.
   */
  async post<Result>(
    work: (session: DurableSession<unknown>, isRepeated: boolean) => Promise<Result>,
  ): Promise<Result> {
    await this.#changing;
    const { session } = this;
    try {
      return await work(session, false);
    } catch (error) {
      const isLost = this.#isLost(session);
      if (!isLost && session === this.#session && this.#changing === undefined) throw error;
      if (isLost && session === this.#session) await this.#reopen();
    }
    await this.#changing;
    if (this.#isEnded) throw sessionNotFound();
    return await work(this.session, true);
  }

  /** Whether a session is still behind this one: it was not closed or lost, and is not being replaced. */
  isCurrent(session: DurableSession<unknown>): boolean {
    return session === this.#session && this.#changing === undefined && !this.#isLost(session);
  }

  /** Whether a session was lost to another owner. One that a newer release wrote is only read from its opening on. */
  #isLost(session: DurableSession<unknown>): boolean {
    return !this.#onlyReads && session.info().access === "read";
  }

  /** Applies all records of the log, also if the session changes its owner meanwhile. */
  async refresh(): Promise<void> {
    await this.#changing;
    const { session } = this;
    await session.refresh();
    if (this.isCurrent(session) || this.#isEnded) return;
    if (session === this.#session && this.#isLost(session)) await this.#reopen();
    await this.#changing;
    if (!this.#isEnded) await this.session.refresh();
  }

  /** The parts of a message of a chat that show tool calls. */
  get toolParts(): ToolParts {
    return this.#context.toolParts;
  }

  /** The URL at which viewers read a file of this session. */
  viewerUrl(url: string): string {
    return viewerUrl(this.#context, this.ref.id, url);
  }

  async close(graceMs: number): Promise<void> {
    this.#end();
    await this.#changing;
    await this.session.close({ graceMs });
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#cancelPoll();
    this.stream.close();
    for (const { ended } of this.#listeners) ended();
  }

  #adopt(session: DurableSession<unknown>): void {
    this.#session = session;
    const { lastError } = session.info();
    this.#onlyReads = lastError instanceof SessionError && lastError.code === "UnsupportedVersion";
    // Questions are shown by this server: without a listener they count as unseen.
    this.#asked = new Map(session.questions().map((question) => [question.digest, question]));
    session.onEvent((event) => this.#noteQuestion(event));
    this.stream.adopt(session);
    DataPosition.of(session);
    // It may have ended while it was opened.
    if (!this.#isEnded) this.#awaitReopening(session);
  }

  /** Opens the session again when its work is due, or when the process that runs it has ended. */
  #awaitReopening(session: DurableSession<unknown>): void {
    const mayTakeOver = !this.#isOfSubAgent && this.#context.log.owner === undefined;
    const reopen = (): void => void this.#reopen();
    if (this.#rests) this.#cancelPoll = whenDue(this.#context, session, reopen);
    else if (session.info().access === "post" && mayTakeOver)
      this.#cancelPoll = whenLeft(this.#context, this.ref.id, reopen);
  }

  #noteQuestion(event: AgentEvent<unknown>): void {
    const asked = event.type === "SubAgentEvent" ? event.event : event;
    if (asked.type === "ApprovalRequested") this.#asked.set(asked.digest, asked);
  }

  #failed({ error }: ErrorReport): void {
    const isTakeover = error instanceof SessionError && error.code === "StaleWriter";
    const isUnseen = error instanceof SessionError && error.code === "QuestionUnseen";
    if (!isTakeover && !isUnseen) this.#context.onError(error);
    // A session that is lost is lost after its report.
    queueMicrotask(() => {
      if (this.#session !== undefined && this.#isLost(this.#session)) void this.#reopen();
    });
  }

  /** Opens the session again, once for all callers. If it was removed, or cannot be opened, this session ends. */
  #reopen(): Promise<void> {
    if (this.#isEnded) return Promise.resolve();
    this.#changing ??= this.#replace().finally(() => (this.#changing = undefined));
    return this.#changing;
  }

  async #replace(): Promise<void> {
    try {
      const log = await this.#context.log.open(this.ref.id);
      if (log === undefined) return this.#end();
      await this.session.close();
      const isTakeover = !this.#rests;
      this.#cancelPoll();
      this.#rests = false;
      this.#adopt(await openAny(this.#opening));
      if (this.isOwner && isTakeover) this.#context.counters.count("moora_takeovers_total");
      for (const { replaced } of this.#listeners) replaced();
    } catch (error) {
      this.#context.onError(error);
      this.#end();
    }
  }
}
