import type { Clock } from "@moora/agent-core-effects";
import { joinPieces } from "@moora/agent-core-state-machine/internal";
import type { AnswerDraft } from "@moora/agent-webui-protocol";
import type { AgentEvent, Question } from "../agent-event.ts";
import type { LiveChunk, LiveText, ViewedSession } from "./live-texts.ts";
import type { StreamedSession } from "./streamed-session.ts";
import { ViewerChunks } from "./viewer-chunks.ts";

/** How long a server counts as one with viewers after its last request, in milliseconds. */
const interestMs = 60_000;
/** The shortest time between two texts of one session, in milliseconds. What is streamed meanwhile is sent together. */
const paceMs = 25;
/** The longest piece of a message, and about the most that one text has of it. */
const maxPieceLength = 32_768;

export interface PublisherOptions {
  /** The key of the session among servers. */
  readonly key: string;
  readonly clock: Clock;
  /** Sends a text to a server. */
  readonly send: (server: string, text: LiveText) => void;
}

/** Sends what a session streams to the servers that have viewers of it. It listens to the session only while there are some. */
export class LivePublisher {
  readonly #session: StreamedSession;
  readonly #options: PublisherOptions;
  readonly #feed = crypto.randomUUID();
  /** When the interest of each server ends, in milliseconds since 1970. */
  readonly #servers = new Map<string, number>();
  readonly #chunks = new ViewerChunks(true);
  #pending: LiveChunk[] = [];
  #seq = 0;
  #detach: (() => void) | undefined;
  #cancelPace: (() => void) | undefined;

  constructor(session: StreamedSession, options: PublisherOptions) {
    this.#session = session;
    this.#options = options;
  }

  /** Adds a server with viewers, and sends it what they do not have. */
  view(server: string, viewed: ViewedSession): void {
    // For the servers so far: what a new one is sent contains it.
    this.#flush();
    const isNew = viewed.isNew || !this.#servers.has(server);
    this.#servers.set(server, this.#options.clock.now() + interestMs);
    if (this.#detach === undefined) this.#attach();
    const draft = this.#session.draft();
    const hasAll =
      !isNew && (draft?.length ?? 0) === (viewed.messageId === draft?.messageId ? viewed.length : 0);
    const questions = this.#session.questions().filter(({ path = [] }) => path.length > 0);
    if (!hasAll || questions.length > 0 || viewed.isAsked)
      this.#begin(server, hasAll ? undefined : draft, questions);
  }

  #begin(server: string, draft: AnswerDraft | undefined, questions: readonly Question[]): void {
    let type: LiveText["type"] = "begin";
    for (const chunks of batchesOf(this.#chunks.begin(draft, questions).flatMap(splitChunk))) {
      this.#options.send(server, { type, ...this.#head(), chunks });
      type = "events";
    }
  }

  leave(server: string): void {
    this.#servers.delete(server);
    if (this.#servers.size === 0) this.close();
  }

  close(): void {
    this.#detach?.();
    this.#detach = undefined;
    this.#cancelPace?.();
    this.#cancelPace = undefined;
    this.#servers.clear();
    this.#pending = [];
  }

  #attach(): void {
    this.#seq = this.#session.seq();
    const stops = [
      this.#session.onRecord((seq) => {
        this.#flush();
        this.#seq = seq;
      }),
      this.#session.onEvent((event) => this.#event(event)),
    ];
    this.#detach = () => {
      for (const stop of stops) stop();
    };
  }

  #event(event: AgentEvent<unknown>): void {
    const chunk = this.#chunks.chunkOf(event);
    if (chunk === undefined) return;
    const last = this.#pending.at(-1);
    const joined = last && joinPieces(last, chunk);
    if (joined === undefined) this.#pending.push(chunk);
    else this.#pending[this.#pending.length - 1] = joined;
    if (this.#cancelPace === undefined) this.#flushInPace();
  }

  /** Sends what waits, and the next texts after a pause. */
  #flushInPace(): void {
    this.#flush();
    this.#cancelPace = this.#options.clock.after(
      paceMs,
      () => {
        this.#cancelPace = undefined;
        if (this.#pending.length > 0) this.#flushInPace();
      },
      { keepsAlive: false },
    );
  }

  #flush(): void {
    if (this.#pending.length === 0) return;
    const chunks = this.#pending;
    this.#pending = [];
    const now = this.#options.clock.now();
    for (const [server, until] of this.#servers) {
      if (until > now) this.#options.send(server, { type: "events", ...this.#head(), chunks });
      else this.leave(server);
    }
  }

  #head(): { readonly session: string; readonly feed: string; readonly seq: number } {
    return { session: this.#options.key, feed: this.#feed, seq: this.#seq };
  }
}

/** A chunk whose text is not too long for one text of the channel. */
function splitChunk(chunk: LiveChunk): readonly LiveChunk[] {
  if (!("offset" in chunk) || chunk.text.length <= maxPieceLength) return [chunk];
  const count = Math.ceil(chunk.text.length / maxPieceLength);
  return Array.from({ length: count }, (_, index) => {
    const start = index * maxPieceLength;
    return {
      ...chunk,
      text: chunk.text.slice(start, start + maxPieceLength),
      offset: chunk.offset + start,
    };
  });
}

/** Chunks in lists that are not too long for one text of the channel; at least one list. */
function batchesOf(chunks: readonly LiveChunk[]): readonly (readonly LiveChunk[])[] {
  const batches: LiveChunk[][] = [[]];
  let length = 0;
  for (const chunk of chunks) {
    const added = "text" in chunk ? chunk.text.length : 0;
    if (length > 0 && length + added > maxPieceLength) {
      batches.push([]);
      length = 0;
    }
    batches.at(-1)?.push(chunk);
    length += added;
  }
  return batches;
}
