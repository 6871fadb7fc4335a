import {
  defineAgent,
  defineTool,
  forkSession,
  openSession,
  toolReply,
  type Agent,
  type DurableSession,
  type UserContent,
} from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import type { LlmCaller, LlmOutcome, LlmPart } from "@moora/llm";
import {
  callProvider,
  StreamFaultError,
  type AnswerReader,
  type ConnectionOptions,
  type NormalizedRequest,
  type Protocol,
  type ReaderContext,
} from "@moora/llm/adapter";
import { answers, callsTools } from "@moora/llm/testing";
import { containsPart } from "../llm/refusing-fetch.ts";
import * as z from "zod";
import { wireDialects, type WireDialect } from "./wire-dialects.ts";

const png = { mediaType: "image/png", url: "data:image/png;base64,iVBORw0KGgo=", name: "a.png" };
const pdf = { mediaType: "application/pdf", url: "data:application/pdf;base64,JVBERi0=", name: "b.pdf" };

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: z.object({ at: z.string() }),
  replay: "safe",
  execute: ({ at }) =>
    toolReply({ content: `At ${at}.`, files: at === "image" ? [png] : at === "file" ? [pdf] : [] }),
});

/** Draws numbers from a list of choices, which is repeated. */
function drawsOf(choices: readonly number[]): (below: number) => number {
  let at = 0;
  return (below) => {
    const choice =
      (choices[at % Math.max(1, choices.length)] ?? 0) + Math.floor(at / Math.max(1, choices.length));
    at += 1;
    return choice % below;
  };
}

type Draw = ReturnType<typeof drawsOf>;

const pick = <Item>(items: readonly Item[], draw: Draw): Item => {
  const item = items[draw(items.length)];
  if (item === undefined) throw new RangeError("There is nothing to pick.");
  return item;
};

/** A conversation whose provider begins to refuse one kind of part. */
class History {
  readonly story: string[] = [];
  readonly problems: string[] = [];
  readonly #draw: Draw;
  readonly #log = memoryLog();
  readonly #refused = new Set<string>();
  #dialect: WireDialect;
  #kind: string;
  #refuses = false;
  #id = "s1";
  #forks = 1;
  #asked = 0;
  #session: DurableSession | undefined;
  #hasFailed = false;

  constructor(draw: Draw) {
    this.#draw = draw;
    this.#dialect = pick(wireDialects, draw);
    this.#kind = pick(Object.keys(this.#dialect.refused), draw);
  }

  async play(): Promise<void> {
    const length = 2 + this.#draw(6);
    const begins = this.#draw(4);
    for (let step = 0; step < length; step += 1) {
      this.#refuses ||= step >= begins;
      await this.#step(this.#draw(14));
    }
    for (const last of ["Hello?", "And now?"]) await this.#ask(last);
    await this.#session?.close();
  }

  async #step(choice: number): Promise<void> {
    if (choice <= 2) return await this.#ask("And then?");
    if (choice === 3) return await this.#ask({ content: "See.", attachments: [png] });
    if (choice === 4) return await this.#ask({ content: "Read.", attachments: [pdf] });
    if (choice <= 6)
      return await this.#ask(`look at ${pick(["image", "file", "door", "poison"], this.#draw)}`);
    if (choice === 7) return await this.#ask("poison");
    if (choice <= 9) return await this.#ask("look at image", this.#draw(12));
    if (choice === 10) return await this.#restart();
    if (choice === 11) return await this.#fork();
    this.#hasFailed = false;
    if (choice === 12) {
      const model = pick(["", "m1", "m2"], this.#draw);
      this.story.push(`model ${model}`);
      return void (await (await this.#open()).configure({ models: { default: model } }));
    }
    this.#dialect = pick(wireDialects, this.#draw);
    this.#kind = pick(Object.keys(this.#dialect.refused), this.#draw);
    await this.#restart();
  }

  async #ask(message: UserContent, cancelAt?: number): Promise<void> {
    const session = await this.#open();
    // A user who writes the same again is not an agent that sends it again.
    const number = ` (${(this.#asked += 1)})`;
    const numbered =
      typeof message === "string" ? message + number : { ...message, content: message.content + number };
    let events = 0;
    const stop = session.onEvent(() => {
      if (events === cancelAt) session.cancel("Enough.").then(undefined, () => undefined);
      events += 1;
    });
    const failure = await Promise.resolve(session.ask(numbered)).then(
      () => undefined,
      (error: unknown) => String(error),
    );
    stop();
    this.story.push(`${JSON.stringify(message)} at ${String(cancelAt)}: ${failure ?? "answered"}`);
    const isPlain = typeof message === "string" && !/poison|look/.test(message);
    if (failure !== undefined && isPlain && this.#hasFailed) this.problems.push("stopped for two loops");
    if (cancelAt === undefined) this.#hasFailed = failure !== undefined;
  }

  async #restart(): Promise<void> {
    this.story.push(`restart with ${this.#dialect.name}, which refuses ${this.#kind}`);
    await this.#session?.close();
    this.#session = undefined;
  }

  async #fork(): Promise<void> {
    const { seq } = (await this.#open()).info();
    await this.#restart();
    this.#forks += 1;
    const as = `s${this.#forks}`;
    await forkSession(this.#log, this.#id, seq, { as, open: "close" });
    this.#id = as;
  }

  async #open(): Promise<DurableSession> {
    this.#session ??= await openSession(this.#agent(), { log: this.#log, id: this.#id });
    return this.#session;
  }

  #agent(): Agent {
    const protocol = this.#protocol(this.#dialect);
    const connection: ConnectionOptions = { model: "m" };
    const call: LlmCaller["call"] = (request, options) =>
      callProvider(protocol, connection, request, options);
    return defineAgent({ llm: { name: this.#dialect.name, call }, tools: [look] });
  }

  #protocol({ name, requestToBody }: WireDialect): Protocol<object, string> {
    return {
      provider: name,
      api: "test",
      sendsIdempotencyKey: true,
      requestToBody,
      open: async (body) => this.#stream(body),
      reader: (context) => this.#reader(context),
      errorToBody: () => undefined,
    };
  }

  #stream(body: object): AsyncIterable<string> {
    const { refused, name } = this.#dialect;
    const part = refused[this.#kind];
    if (!this.#refuses || part === undefined || !containsPart(body, part.is)) return words();
    const sent = `${name} ${JSON.stringify(body)}`;
    if (this.#refused.has(sent)) this.problems.push(`sent again unchanged: ${sent}`);
    this.#refused.add(sent);
    const headers = new Headers({ "content-type": "application/json" });
    const { status = 400, error } = part;
    throw new StreamFaultError({ type: "response", status, headers, body: JSON.stringify(error) });
  }

  #reader({ origin, feed, normalized }: ReaderContext): AnswerReader<object, string> {
    let text = "";
    return {
      add: (word) => {
        text += word;
        feed.text(word);
        return word === "fine.";
      },
      partial: () => text,
      usage: () => undefined,
      outcome: () => this.#turn(normalized, origin),
    };
  }

  #turn({ messages }: NormalizedRequest, origin: string): LlmOutcome {
    const { ownParts, rawCall } = this.#dialect;
    const own: readonly LlmPart[] = this.#draw(3) === 0 ? [] : pick(ownParts, this.#draw);
    const last = messages.at(-1);
    const asked = last?.role === "user" ? JSON.stringify(last.content) : "";
    const at = /look at (\w+)/.exec(asked)?.[1];
    const outcome =
      at === undefined ? answers("All fine.") : callsTools([{ name: "look", arguments: { at } }]);
    if (!outcome.ok) return outcome;
    const parts = outcome.turn.parts.map((part) =>
      part.type === "tool-call" && rawCall !== undefined ? { ...part, raw: rawCall } : part,
    );
    return { ...outcome, turn: { origin, parts: [...own, ...parts] } };
  }
}

async function* words(): AsyncGenerator<string, void, undefined> {
  for (const word of ["All ", "fine."]) yield await Promise.resolve(word);
}

/** Plays a history that these numbers choose. Returns what is wrong with it, after its story; undefined if nothing is. */
export async function playHistory(choices: readonly number[]): Promise<string | undefined> {
  const history = new History(drawsOf(choices));
  await history.play();
  return history.problems.length === 0 ? undefined : [...history.story, ...history.problems].join("\n");
}
