import { systemClock, textToHeader, type AgentInput, type Progress } from "@moora/agent";
import {
  LivePublishers,
  liveKeyOf,
  viewersTopic,
  viewerTextOf,
  type ViewerText,
} from "@moora/agent/internal";
import type { LiveChannel } from "@moora/event-log";
import { EffectStream } from "./effect-stream.ts";
import { headTopic } from "./head-topic.ts";
import type { SessionWithHeader } from "./session-cache.ts";

/** The effect that streams. */
interface StreamingEffect {
  readonly id: string;
  readonly key: string;
  readonly known: SessionWithHeader;
  /** Reports an input to the session. */
  readonly report: (input: AgentInput) => Promise<unknown>;
}

/** An effect that streams until it is disposed of. Viewers are shown a text after the record of the beginning of its message. */
export class LiveEffect implements Disposable {
  readonly #effect: StreamingEffect;
  readonly #stream: EffectStream;
  readonly #end: () => void;
  #opening: Promise<unknown> = Promise.resolve();

  constructor(effect: StreamingEffect, stream: EffectStream, end: () => void) {
    this.#effect = effect;
    this.#stream = stream;
    this.#end = end;
  }

  notify(progress: Progress): void {
    if (progress.type === "LlmToken" && progress.offset === 0) this.#open(progress.messageId);
    this.#stream.notify(progress);
  }

  /** Called before the effect reports. Resolves when the session has the beginning of its message. */
  async reporting(): Promise<void> {
    await this.#opening;
    this.#stream.reporting();
  }

  [Symbol.dispose](): void {
    this.#end();
  }

  #open(messageId: string): void {
    const { key, report } = this.#effect;
    const timestamp = systemClock.now();
    // Without the record, viewers get the message as a whole. What fails here fails again at the report of the result.
    this.#opening = report({ type: "llm-message-started", messageId, key, timestamp }).catch(() => undefined);
  }
}

/** What the effects of this process stream and report, for servers with viewers. */
export class LiveEffects {
  readonly #channel: LiveChannel;
  readonly #service: string;
  readonly #publishers: LivePublishers;

  /** `service`: the name of the object of the sessions. */
  constructor(channel: LiveChannel, service: string) {
    this.#channel = channel;
    this.#service = service;
    this.#publishers = new LivePublishers(channel, systemClock);
    channel.subscribe(viewersTopic, (json) => {
      const text = viewerTextOf(json);
      if (text !== undefined) this.#publishers.receive(text);
    });
  }

  /** Begins to send what an effect streams to the servers that have viewers of its session, and asks which these are. */
  begin(effect: StreamingEffect): LiveEffect {
    const { id, known } = effect;
    const key = liveKeyOf(id, textToHeader(known.header).incarnation);
    const stream = new EffectStream(known.session.head.seq);
    const end = this.#publishers.publish(key, stream);
    const ask: ViewerText = { type: "ask", session: key };
    this.#channel.publish(viewersTopic, JSON.stringify(ask));
    return new LiveEffect(effect, stream, end);
  }

  /** Reports that a session has new records. */
  recorded(id: string): void {
    this.#channel.publish(headTopic(this.#service), id);
  }
}
