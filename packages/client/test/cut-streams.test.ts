import type { AgentEvent } from "@moora/agent";
import { seededChoose, type Choose } from "@moora/agent-testing";
import { TestClock, turn, untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { agentOf, Scene, type Network, toolOf } from "./support.ts";
import { WritingLlm } from "./writing-llm.ts";
import type { RemoteSession } from "../src/index.ts";

const positionOf = ({ toolCallId }: { readonly toolCallId?: string }): number =>
  Number(toolCallId?.replace("call_", "")) - 1;

/** What a page shows of an answer that is being written. */
class Shown {
  readonly #session: RemoteSession;
  readonly problems: string[] = [];
  reasoning = "";
  tokens = "";
  /** The arguments by the position of the call, which its id contains. */
  readonly #calls = new Map<number, string>();

  constructor(session: RemoteSession) {
    this.#session = session;
    session.onEvent((event) => this.#add(event));
  }

  get text(): string {
    return this.#session.current().streaming?.text ?? "";
  }

  get calls(): readonly string[] {
    return [...this.#calls].toSorted(([a], [b]) => a - b).map(([, text]) => text);
  }

  /** Everything that is shown. */
  get all(): object {
    return { text: this.text, tokens: this.tokens, reasoning: this.reasoning, calls: this.calls };
  }

  /** Notes what is not the beginning of what the model has written. */
  compareWith({ text, reasoning, calls }: WritingLlm): void {
    this.#check(text.startsWith(this.text), `text ${this.text}`);
    this.#check(text.startsWith(this.tokens), `tokens ${this.tokens}`);
    this.#check(reasoning.startsWith(this.reasoning), `reasoning ${this.reasoning}`);
    for (const [position, shown] of this.#calls)
      this.#check(calls[position]?.startsWith(shown) === true, `call ${position} ${shown}`);
  }

  #add(event: AgentEvent): void {
    if (event.type === "LlmReasoning") {
      this.#check(event.offset === this.reasoning.length, `reasoning at ${event.offset}`);
      this.reasoning += event.text;
    } else if (event.type === "LlmToken") {
      this.#check(event.offset === this.tokens.length, `token at ${event.offset}`);
      this.tokens += event.text;
    } else if (event.type === "LlmToolCall") {
      this.#check(!this.#calls.has(positionOf(event)), `second ${event.toolCallId}`);
      this.#calls.set(positionOf(event), "");
    } else if (event.type === "LlmToolCallDelta") {
      const known = this.#calls.get(positionOf(event)) ?? "";
      this.#check(event.offset === known.length, `arguments at ${event.offset}`);
      this.#calls.set(positionOf(event), known + event.text);
    }
  }

  #check(isRight: boolean, what: string): void {
    if (!isRight) this.problems.push(what);
  }
}

const connected = (session: RemoteSession): Promise<void> =>
  untilPasses(() => expect(session.connection().status).toBe("connected"));

/** Cuts the stream, and lets the client make another one. The model writes meanwhile. */
async function cut(
  { session, network, clock }: { session: RemoteSession; network: Network; clock: TestClock },
  { choose, write }: { choose: Choose; write: () => void },
): Promise<void> {
  const isPlanned = choose(2) === 0;
  if (!isPlanned) network.goOffline();
  for (let count = choose(4); count > 0; count -= 1) write();
  // A stream ends after 60 seconds at the latest.
  if (isPlanned) await clock.advanceAsync(60_000);
  for (let count = choose(4); count > 0; count -= 1) write();
  for (let turns = choose(3); turns > 0; turns -= 1) await turn();
  network.goOnline();
  session.reconnect();
  for (let count = choose(3); count > 0; count -= 1) write();
  await connected(session);
}

interface Losses {
  /** A small one makes the server drop chunks. */
  readonly maxBufferedBytes?: number;
  /** Whether chunks are lost on their way. */
  readonly losesChunks?: boolean;
}

/** Runs one drawn conversation. Returns what was wrong at a time. */
async function simulate(
  seed: number,
  { maxBufferedBytes = 262_144, losesChunks = false }: Losses = {},
): Promise<readonly string[]> {
  const choose = seededChoose(seed);
  const clock = new TestClock();
  const llm = new WritingLlm();
  const limits = { streamLifetimeMs: 60_000, maxBufferedBytes };
  await using scene = new Scene(agentOf(llm, { tools: [toolOf("look")] }), { clock, limits });
  const { session, network } = await scene.connect({ clock, streamIdleMs: 3_600_000 });
  const shown = new Shown(session);
  await session.send("Look");
  await untilPasses(() => expect(llm.hasBegun).toBe(true));
  session.subscribe(() => shown.compareWith(llm));
  network.losesChunks = () => losesChunks && choose(3) === 0;
  for (let step = 0; step < 25; step += 1) {
    if (choose(5) === 0) await cut({ session, network, clock }, { choose, write: () => llm.write(choose) });
    else for (let count = choose(6); count > 0; count -= 1) llm.write(choose);
    for (let turns = choose(4); turns > 0; turns -= 1) await turn();
    shown.compareWith(llm);
  }
  network.losesChunks = () => false;
  session.reconnect();
  const { text, reasoning, calls } = llm;
  await untilPasses(() => expect(shown.all).toEqual({ text, tokens: text, reasoning, calls }));
  return shown.problems;
}

describe("a client whose stream is cut at random positions of an answer", () => {
  it.each(Array.from({ length: 20 }, (_, seed) => seed))(
    "shows beginnings of the text, the reasoning and the arguments only, and then all of them, seed %i",
    async (seed) => expect(await simulate(seed)).toEqual([]),
  );

  it.each(Array.from({ length: 10 }, (_, seed) => seed))(
    "shows the same where the server drops chunks for readers that are behind, seed %i",
    async (seed) => expect(await simulate(100 + seed, { maxBufferedBytes: 500 })).toEqual([]),
  );

  it.each(Array.from({ length: 10 }, (_, seed) => seed))(
    "shows the same where chunks are lost within a stream, seed %i",
    async (seed) => expect(await simulate(200 + seed, { losesChunks: true })).toEqual([]),
  );
});
