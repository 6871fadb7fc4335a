import {
  openSession,
  systemClock,
  type Agent,
  type Clock,
  type DurableSession,
  type Decision,
  type ErrorReport,
  type OpenOptions,
  type Question,
} from "@moora/agent";
import { fileHeaders, mediaTypeIn, safeErrorListener } from "@moora/agent/internal";
import { validId } from "@moora/event-log/store";
import { ObjectAlarm } from "./alarm.ts";
import { type DurableObjectLog, openObjectLog } from "./durable-object-log.ts";
import { ObjectId } from "./object-id.ts";
import { routeOf } from "./object-route.ts";
import type { ObjectSocket, ObjectState } from "./platform.ts";
import { errorToProblem, Problem } from "./problem.ts";
import { SessionKeeper } from "./session-keeper.ts";

import type { SessionObjectOptions } from "./session-object-options.ts";
import { newSockets, toUpgrade } from "./upgrade.ts";
import { closeSocket, Viewers } from "./viewers.ts";

/** A Durable Object with one session. The platform calls its methods. */
export interface SessionObject {
  fetch(request: Request): Promise<Response>;
  alarm(): Promise<void>;
  webSocketMessage(socket: ObjectSocket, message: unknown): void;
  webSocketClose(socket: ObjectSocket, code: number): void;
  webSocketError(socket: ObjectSocket): void;
}

/** One instance of an object runs at a time, so all of them have one name, and the next one takes over at once. */
const owner = "durable object";

/** No other process claims the lease: it is not renewed while the object is in memory. */
const leaseMs = 24 * 60 * 60 * 1_000;

/** The body of a decision. */
interface PostedDecision {
  readonly question: Pick<Question, "toolCallId" | "digest" | "path">;
  readonly decision: Decision;
  readonly by?: string;
  readonly requestId?: string;
}

/** The JSON of a request. Throws `invalid-request` for another body. */
const bodyOf = async (request: Request): Promise<unknown> =>
  await request.json().catch(() => {
    throw new Problem(400, "invalid-request", "The body must be JSON.");
  });

/** The object of one session: its routes, its alarm, its viewers, and the session while it is open. */
export class AgentSessionObject<Env> implements SessionObject {
  readonly #options: SessionObjectOptions<Env>;
  readonly #env: Env;
  readonly #clock: Clock;
  readonly #log: DurableObjectLog;
  readonly #id: ObjectId;
  readonly #alarm: ObjectAlarm;
  readonly #viewers: Viewers;
  readonly #keeper: SessionKeeper;
  #agent: Agent<unknown> | undefined;

  constructor(state: ObjectState, env: Env, options: SessionObjectOptions<Env>) {
    const { storage } = state;
    const { clock = () => systemClock, heartbeatMs = 30_000, idleMs = 10_000 } = options;
    const onError = (error: unknown): void => this.#report({ source: "log", error });
    this.#options = options;
    this.#env = env;
    this.#clock = clock(env);
    this.#alarm = new ObjectAlarm({ storage, clock: this.#clock, heartbeatMs, onError });
    this.#log = openObjectLog(
      storage,
      () => undefined,
      () => this.#alarm.guard(),
    );
    this.#id = new ObjectId(storage);
    this.#viewers = new Viewers(state, (afterSeq) => this.#read((session) => session.history(afterSeq)));
    this.#keeper = new SessionKeeper({ open: () => this.#open(), idleMs, onError });
  }

  async fetch(request: Request): Promise<Response> {
    try {
      return await this.#answer(request);
    } catch (error) {
      const problem = errorToProblem(error);
      if (problem.code === "internal") this.#report({ source: "log", error });
      return problem.toResponse();
    }
  }

  async alarm(): Promise<void> {
    this.#alarm.fired();
    if (this.#id.read() === undefined) return;
    try {
      await this.#keeper.use(async (session) => {
        await session.refresh();
        this.#alarm.plan(session.current());
      });
    } catch (error) {
      // The platform repeats an alarm that fails a few times only.
      this.#report({ source: "log", error });
      this.#alarm.guard();
    }
  }

  /** Viewers only read. */
  webSocketMessage(): void {}

  webSocketClose(socket: ObjectSocket, code: number): void {
    // 1005 and 1006 report that there was no code; they cannot be sent.
    closeSocket(socket, code === 1005 || code === 1006 ? 1000 : code);
  }

  webSocketError(socket: ObjectSocket): void {
    closeSocket(socket, 1011);
  }

  async #answer(request: Request): Promise<Response> {
    const { id, name: route, digest, after } = routeOf(request);
    if (route === "POST inputs") return await this.#dispatch(id, request);
    if (route === "GET events" && this.#id.read() === undefined) return this.#awaitSession(request);
    this.#checkId(id);
    if (route === "POST decisions") return await this.#decide(request);
    if (route === "GET") return Response.json(await this.#view(id));
    if (route === "GET events") return await this.#watch(id, request, after);
    if (route === "GET records") return Response.json(await this.#records(id, after ?? 0));
    if (route === "GET files" && digest !== undefined) return await this.#file(digest);
    if (route === "DELETE") return await this.#remove(id);
    throw new Problem(404, "not-found", "There is no such resource.");
  }

  async #dispatch(id: string, request: Request): Promise<Response> {
    const input = await bodyOf(request);
    if (this.#id.read() === undefined && id !== "") this.#id.write(validId(id));
    this.#checkId(id);
    return Response.json(await this.#keeper.use((session) => session.dispatch(input)));
  }

  async #decide(request: Request): Promise<Response> {
    // The session checks each of them.
    const { question, decision, by, requestId }: PostedDecision = Object(await bodyOf(request));
    const decide = (session: DurableSession<unknown>) => session.decide(question, decision, by, requestId);
    return Response.json(await this.#keeper.use(decide));
  }

  /** An object has one session, which the first input names. */
  #checkId(id: string): void {
    const own = this.#id.read();
    if (own === id) return;
    if (own === undefined || id === "") throw new Problem(404, "not-found", "There is no such session.");
    throw new Problem(409, "wrong-object", `This object has the session ${JSON.stringify(own)}.`);
  }

  #view(id: string): Promise<object> {
    return this.#read(async (session) => {
      const { streaming: _, ...state } = session.current();
      return { id, seq: session.seq(), state, questions: session.questions() };
    });
  }

  async #watch(id: string, request: Request, after: number | undefined): Promise<Response> {
    const pair = newSockets(request);
    if (after !== undefined) {
      this.#checkPosition(id, after);
      await this.#viewers.add(pair[1], after);
    } else {
      const { seq, state } = await this.#read(async (session) => {
        const { streaming: _, ...current } = session.current();
        return { seq: session.seq(), state: current };
      });
      await this.#viewers.add(pair[1], seq, { type: "state", id, seq, state });
    }
    return toUpgrade(pair);
  }

  /** A viewer that has more records than the session has those of an earlier session with this id. */
  #checkPosition(id: string, after: number): void {
    const head = this.#log.headOf(id) ?? 0;
    if (after <= head) return;
    const detail = `The session has no record ${after}; the last one is ${head}.`;
    throw new Problem(400, "cursor-beyond-end", detail);
  }

  /** A viewer may connect before the first input. */
  #awaitSession(request: Request): Response {
    const pair = newSockets(request);
    this.#viewers.await(pair[1]);
    return toUpgrade(pair);
  }

  async #records(id: string, after: number): Promise<object> {
    const session = this.#log.open(id);
    if (session === undefined) throw new Problem(404, "not-found", "There is no such session.");
    return { id, header: session.header, records: await session.read(after) };
  }

  /** A file of the session; others have no media type. */
  async #file(digest: string): Promise<Response> {
    const url = `ni:///sha-256;${digest}`;
    const mediaType = await this.#read(async (session) => mediaTypeIn(session.current(), url));
    const { blobs = {} } = this.#options;
    const store = (blobs === false ? undefined : blobs.store) ?? this.#log.blobs;
    const bytes = mediaType === undefined ? undefined : await store.get(url);
    if (mediaType === undefined || bytes === undefined)
      throw new Problem(404, "not-found", "The session has no such file.");
    return new Response(bytes.slice(), { headers: fileHeaders(mediaType, digest) });
  }

  async #remove(id: string): Promise<Response> {
    await this.#keeper.close();
    for (const session of this.#log.list()) await this.#log.remove(session.id);
    await this.#log.blobs.clear();
    this.#id.clear();
    this.#alarm.clear();
    this.#viewers.close({ type: "removed", id });
    return new Response(null, { status: 204 });
  }

  /** Reads the session. One that is not open stays closed. */
  async #read<Result>(read: (session: DurableSession<unknown>) => Promise<Result>): Promise<Result> {
    if (this.#keeper.isOpen) return await this.#keeper.use(read);
    const session = await openSession(this.#agentOfObject(), { ...this.#openOptions(), access: "read" });
    try {
      return await read(session);
    } finally {
      await session.close();
    }
  }

  async #open(): Promise<DurableSession<unknown>> {
    const session = await openSession(this.#agentOfObject(), this.#openOptions());
    const onError = (error: unknown): void => this.#report({ source: "listener", error });
    session.onInput((input, state, seq) => {
      this.#planFor(seq, state);
      const id = this.#id.read() ?? "";
      this.#viewers.input({ seq, input }, { type: "state", id, seq, state }).catch(onError);
    });
    session.onEvent((event) => void this.#viewers.event(event).catch(onError));
    this.#planFor(session.seq(), session.current());
    return session;
  }

  /** Sets the alarm, unless an append is on its way: that has set one, and the state after it decides. */
  #planFor(seq: number, state: Parameters<ObjectAlarm["plan"]>[0]): void {
    if (this.#log.headOf(this.#id.read() ?? "") === seq) this.#alarm.plan(state);
  }

  #agentOfObject(): Agent<unknown> {
    this.#agent ??= this.#options.agent(this.#env, { log: this.#log });
    return this.#agent;
  }

  #openOptions(): OpenOptions {
    const { blobs = {}, context, onApproval, onLog } = this.#options;
    return {
      log: this.#log,
      id: this.#id.read() ?? "",
      owner,
      leaseMs,
      clock: this.#clock,
      ...(blobs === false ? {} : { blobs }),
      ...(context === undefined ? {} : { context: context(this.#env) }),
      ...(onApproval === undefined ? {} : { onApproval }),
      onError: (report) => this.#report(report),
      ...(onLog === undefined ? {} : { onLog }),
    };
  }

  #report(report: ErrorReport): void {
    const { onError } = this.#options;
    const listener = onError === undefined ? undefined : () => onError(report);
    safeErrorListener(listener)(report.error);
  }
}
