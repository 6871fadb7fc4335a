import { LogError, memoryLog, MemoryStorage } from "@moora/event-log";
import { seededRandom } from "@moora/event-log/testing";
import { hangs, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { defineAgent, openSession, type DurableSession } from "../../src/index.ts";
import { HeardErrors } from "@moora/testbed/durable/errors";
import { remoteLog, type Passage } from "@moora/testbed/durable/remote-log";
import { checkSound } from "@moora/testbed/durable/scene";
import { isProof } from "@moora/testbed/sample";
import { turn, TestClock } from "@moora/testbed/test-clock";

/** A message while the model is at work: it waits in the queue, and nothing else happens. */
const noted = (text: string) => ({
  type: "user-message-received",
  messageId: text,
  content: text,
  timestamp: 1,
});

/** Notes are taken while a loop runs; this one does not end. */
const thinker = defineAgent({ name: "thinker", llm: new MockLlmCaller(() => hangs("Hm")) });

/** A network that is slow, each time otherwise, and loses every sixth append or its answer. */
function poorNetwork(random: () => number): {
  readonly pass: (passage: Passage) => Promise<void>;
  mend(): void;
} {
  let isMended = false;
  return {
    mend: () => void (isMended = true),
    async pass({ call }) {
      for (let turns = Math.floor(random() * 4); turns > 0; turns -= 1) await turn();
      if (!isMended && call === "append" && random() < 0.09)
        throw new LogError("LogWrite", "The connection broke.");
      if (!isMended && call === "read" && random() < 0.03)
        throw new LogError("LogWrite", "The connection broke.");
    },
  };
}

/** One of several hosts, and what became of its session as it saw it. */
interface Host {
  readonly session: DurableSession;
  /** The numbers under which inputs became part of its state. */
  readonly seen: number[];
  /** Those that were not in the log yet. */
  readonly ahead: number[];
  readonly from: number;
}

const seeds = Array.from({ length: isProof ? 300 : 12 }, (_, index) => index + 1);

describe("three hosts of one session on a network that breaks", () => {
  it.each(seeds)(
    "have each input once, in the order of the log, however they learn of it (V6, V7, seed %i)",
    async (seed) => {
      const random = seededRandom(seed);
      const storage = new MemoryStorage();
      const near = memoryLog(storage);
      const clock = new TestClock();
      const network = poorNetwork(random);
      const errors = new HeardErrors();
      const written = (): number => storage.generations.get("ada")?.records.length ?? 0;
      const host = async (access: "run" | "post"): Promise<Host> => {
        const log = remoteLog(near, network.pass);
        const session = await untilDone(
          () => openSession(thinker, { log, id: "ada", clock, access, onError: errors.onError }),
          clock,
        );
        const [seen, ahead]: [number[], number[]] = [[], []];
        session.onInput((_input, _state, seq) => {
          seen.push(seq);
          if (written() < seq) ahead.push(seq);
        });
        return { session, seen, ahead, from: session.info().seq };
      };
      const owner = await host("run");
      await untilDone(() => owner.session.send("Think."), clock);
      while (owner.session.current().streaming === null)
        await untilDone(() => clock.advanceAsync(100), clock);
      const hosts = [owner, await host("post"), await host("post")];
      const accepted = new Map<string, number>();
      const inDoubt = new Set<string>();
      await Promise.all(
        hosts.map(async ({ session }, index) => {
          const all: Promise<void>[] = [];
          for (let count = 0; count < 40; count += 1) {
            const text = `${index} says ${count}`;
            const said = session.dispatch(noted(text)).then(
              (receipt) => {
                if (receipt.status === "accepted") accepted.set(text, receipt.seq);
              },
              () => void inDoubt.add(text),
            );
            all.push(said);
            if (random() < 0.5) await said;
            if (random() < 0.3) await clock.advanceAsync(60);
          }
          await Promise.all(all);
        }),
      );
      network.mend();
      for (let round = 0; round < 3; round += 1) {
        await clock.advanceAsync(10_000);
        for (const { session } of hosts) await session.refresh();
      }
      // The model is waited for no longer, so that nothing more is written.
      await owner.session.close();
      for (const { session } of hosts) await session.refresh();
      const records = storage.generations.get("ada")?.records ?? [];
      const texts = records.map(({ body }) => String(JSON.parse(body).content ?? ""));
      const notes = texts.filter((text) => text !== "" && text !== "Think.");
      expect(new Set(notes).size).toBe(notes.length);
      for (const [text, seq] of accepted) expect(texts[seq - 1]).toBe(text);
      for (const text of notes) expect(accepted.has(text) || inDoubt.has(text)).toBe(true);
      for (const { session, seen, ahead, from } of hosts) {
        expect(ahead).toEqual([]);
        expect(seen).toEqual(Array.from({ length: records.length - from }, (_, index) => from + index + 1));
        await checkSound(session, near);
        await session.close();
      }
      expect(new Set(errors.codes)).toEqual(new Set(["LogWrite"]));
      expect(clock.waiting).toBe(0);
    },
  );
});

/** Retries until the network lets it through, and advances the clock. */
async function untilDone<Result>(work: () => Promise<Result>, clock: TestClock): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof LogError)) throw error;
      await clock.advanceAsync(1_000);
    }
  }
}
