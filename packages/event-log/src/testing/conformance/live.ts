import { maxLiveTextLength } from "../../live-topics.ts";
import type { LiveChannel } from "../../port.ts";
import { check, checkEqual } from "../expectations.ts";
import type { LogCase } from "../log-storage.ts";
import { nextTurn } from "../next-turn.ts";
import { logCase, type Scene } from "../scene.ts";

/** A case for logs with a live channel; it passes for those without. */
const liveCase = (name: string, act: (live: LiveChannel, scene: Scene) => Promise<void>): LogCase =>
  logCase(name, async (scene) => {
    if (scene.log.live !== undefined) await act(scene.log.live, scene);
  });

/** The live channel of another process. */
async function elsewhere(scene: Scene): Promise<LiveChannel> {
  const { live } = await scene.storage.open();
  check(live !== undefined, "each log of the storage has a live channel");
  return live;
}

/** Reads a topic. */
class Reader {
  readonly texts: string[] = [];
  readonly stop: () => void;

  constructor(live: LiveChannel, topic: string) {
    this.stop = live.subscribe(topic, (text) => void this.texts.push(text));
  }

  /** Publishes until a text arrives: a subscription may need time to begin. The texts so far are dropped. */
  async isHeardBy(live: LiveChannel, topic: string): Promise<void> {
    while (this.texts.length === 0) {
      live.publish(topic, "first");
      await nextTurn();
    }
    live.publish(topic, "begin");
    await this.has((text) => text === "begin");
    this.texts.length = 0;
  }

  async has(test: (text: string) => boolean): Promise<void> {
    while (!this.texts.some(test)) await nextTurn();
  }
}

const texts = ["", "one", "\0\u0001 two", "ä€😀".repeat(9_000), "x".repeat(maxLiveTextLength), "last"];

export const liveCases: readonly LogCase[] = [
  liveCase("texts reach the subscribers of all processes, unchanged and in order", async (live, scene) => {
    const far = new Reader(await elsewhere(scene), "topic");
    const near = new Reader(live, "topic");
    await Promise.all([far.isHeardBy(live, "topic"), near.isHeardBy(live, "topic")]);
    for (const reader of [far, near]) {
      live.publish("topic", "start");
      await reader.has((text) => text === "start");
      reader.texts.length = 0;
    }
    for (const text of texts) live.publish("topic", text);
    for (const reader of [far, near]) {
      await reader.has((text) => text === "last");
      check(
        reader.texts.slice(-texts.length).every((text, index) => text === texts[index]),
        "the texts arrive as they were published",
      );
      reader.stop();
    }
  }),
  liveCase(
    "a text of another topic does not arrive, and none after the subscription has ended",
    async (live, scene) => {
      const channel = await elsewhere(scene);
      const one = new Reader(channel, "one");
      const other = new Reader(channel, "other");
      await one.isHeardBy(live, "one");
      await other.isHeardBy(live, "other");
      one.texts.length = 0;
      live.publish("other", "for the other");
      await other.has((text) => text === "for the other");
      checkEqual(one.texts, [], "the texts of the first topic");
      one.stop();
      live.publish("one", "too late");
      live.publish("other", "last");
      await other.has((text) => text === "last");
      checkEqual(one.texts, [], "the texts after the end");
      other.stop();
    },
  ),
  liveCase("a text that is too long is lost, and the next one arrives", async (live) => {
    const reader = new Reader(live, "topic");
    await reader.isHeardBy(live, "topic");
    live.publish("topic", "x".repeat(maxLiveTextLength + 1));
    live.publish("topic", "next");
    await reader.has((text) => text === "next");
    checkEqual(reader.texts, ["next"], "the texts");
    reader.stop();
  }),
];
