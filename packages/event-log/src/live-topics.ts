/** The longest text of a live channel, in UTF-16 code units. */
export const maxLiveTextLength = 262_144;

type TextListener = (text: string) => void;

/** The subscribers of a live channel, by topic. */
export class LiveTopics {
  readonly #byTopic = new Map<string, Set<TextListener>>();

  /** Adds a listener; returns a function that removes it. The same function can be added more than once. */
  add(topic: string, listener: TextListener): () => void {
    const own: TextListener = (text) => listener(text);
    const all = this.#byTopic.get(topic) ?? new Set();
    this.#byTopic.set(topic, all.add(own));
    return () => {
      if (all.delete(own) && all.size === 0 && this.#byTopic.get(topic) === all) this.#byTopic.delete(topic);
    };
  }

  has(topic: string): boolean {
    return this.#byTopic.has(topic);
  }

  /**
   * Calls the listeners of a topic in microtasks, in the order of the texts. An error of a listener affects no other one; it is not
   * caught.
   */
  deliver(topic: string, text: string): void {
    if (text.length > maxLiveTextLength) return;
    for (const listener of this.#byTopic.get(topic) ?? []) {
      queueMicrotask(() => {
        if (this.#byTopic.get(topic)?.has(listener) === true) listener(text);
      });
    }
  }
}
