import type { Clock } from "@moora/agent-core-effects";
import type { LiveChannel } from "@moora/event-log";
import { LivePublisher } from "./live-publisher.ts";
import type { StreamedSession } from "./streamed-session.ts";
import type { ViewerText } from "./viewer-texts.ts";

/** What a process streams over a live channel, to the servers that have viewers of it: they ask for it. */
export class LivePublishers {
  readonly #channel: Pick<LiveChannel, "publish">;
  readonly #clock: Clock;
  /** Those of a session by its key: effects of one session may run at the same time. */
  readonly #byKey = new Map<string, Set<LivePublisher>>();

  constructor(channel: Pick<LiveChannel, "publish">, clock: Clock) {
    this.#channel = channel;
    this.#clock = clock;
  }

  /** Sends what a session streams to servers that ask. Returns a function that ends it. */
  publish(key: string, session: StreamedSession): () => void {
    const publisher = new LivePublisher(session, {
      key,
      clock: this.#clock,
      send: (server, text) => this.#channel.publish(server, JSON.stringify(text)),
    });
    const all = this.#byKey.get(key) ?? new Set();
    this.#byKey.set(key, all.add(publisher));
    return () => {
      publisher.close();
      if (all.delete(publisher) && all.size === 0 && this.#byKey.get(key) === all) this.#byKey.delete(key);
    };
  }

  /** Takes the request of a server. */
  receive(text: ViewerText): void {
    if (text.type === "view") {
      for (const viewed of text.sessions)
        for (const publisher of this.#byKey.get(viewed.session) ?? []) publisher.view(text.server, viewed);
    } else if (text.type === "leave") {
      for (const key of text.sessions)
        for (const publisher of this.#byKey.get(key) ?? []) publisher.leave(text.server);
    }
  }

  close(): void {
    for (const all of this.#byKey.values()) for (const publisher of all) publisher.close();
    this.#byKey.clear();
  }
}
