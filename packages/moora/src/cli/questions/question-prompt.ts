import { errorText } from "@moora/agent-core-effects/internal";
import { InputRefused, type Decision, type Question, type Receipt } from "@moora/agent";
import type { LineRead, LineReader, ReplyRequest } from "../terminal/line-reader.ts";
import type { Screen } from "../terminal/screen.ts";
import { decideFirst, lineToReply, promptOf, type Decisions, type Reply } from "./line-to-reply.ts";
import { questionText } from "./question-text.ts";

/** Receives the decisions of a question. */
export interface QuestionTarget {
  readonly decide: (question: Question, decision: Decision) => Promise<Receipt>;
  readonly isOpen: (question: Question) => boolean;
  /** Called for Ctrl-C at a question. */
  readonly interrupt: () => void;
  /** Called when the input ends before the question is answered. */
  readonly inputEnded: (question: Question) => void;
}

/** Asks the user at the terminal, or reads decisions from the lines of a pipe: one question at a time, in order. */
export class QuestionPrompt {
  readonly #lines: LineReader;
  readonly #screen: Screen;
  readonly #alwaysAllowed = new Set<string>();
  /** Questions that are asked, or are in the queue. */
  readonly #pending = new Set<string>();
  #last: Promise<void> = Promise.resolve();

  constructor(lines: LineReader, screen: Screen) {
    this.#lines = lines;
    this.#screen = screen;
  }

  /** Asks as soon as no other question is being asked. Aborting the signal withdraws the question. */
  ask(question: Question, signal: AbortSignal, target: QuestionTarget): void {
    const key = `${question.toolCallId}/${question.digest}`;
    if (this.#pending.has(key)) return;
    this.#pending.add(key);
    this.#last = this.#last
      .then(() => this.#settle(question, signal, target))
      .catch((error: unknown) => this.#screen.line(`The question cannot be asked: ${errorText(error)}`))
      .finally(() => this.#pending.delete(key));
  }

  async #settle(question: Question, signal: AbortSignal, target: QuestionTarget): Promise<void> {
    if (signal.aborted) return;
    const { about, name } = question;
    const isAllowed = about === "approval" && this.#alwaysAllowed.has(name);
    if (isAllowed && (await this.#applyDecisions(question, ["approve"], target))) return;
    this.#screen.line(questionText(question));
    for (let isNew = true; ; isNew = false) {
      const read = await this.#readReply(question, isNew, signal);
      if (read.type === "canceled") return;
      if (read.type === "interrupted") return target.interrupt();
      if (read.type === "end") return target.inputEnded(question);
      const { reply } = read;
      if (reply.type !== "decide") {
        if (reply.type === "invalid") this.#screen.line(reply.problem);
        continue;
      }
      if (!(await this.#applyDecisions(question, reply.decisions, target))) continue;
      if (reply.always === true) this.#alwaysAllowed.add(name);
      return;
    }
  }

  /** A line, and the further lines that it asks for. */
  async #readReply(
    question: Question,
    isNew: boolean,
    signal: AbortSignal,
  ): Promise<{ readonly type: "reply"; readonly reply: Reply } | Exclude<LineRead, { type: "line" }>> {
    const prompt = promptOf(question);
    let read = await this.#read({ prompt, prefill: "", isNew, signal });
    if (read.type !== "line") return read;
    let reply = lineToReply(read.text, question, this.#lines.isTerminal);
    while (reply.type === "ask") {
      // Text that the screen would hide cannot be edited.
      const prefill = this.#screen.clean(reply.prefill) === reply.prefill ? reply.prefill : "";
      read = await this.#read({ prompt: reply.prompt, prefill, isNew: false, signal });
      if (read.type !== "line") return read;
      reply = reply.toReply(read.text);
    }
    return { type: "reply", reply };
  }

  async #read(request: ReplyRequest): Promise<LineRead> {
    return await this.#screen.withInput(this.#lines, () => this.#lines.reply(request));
  }

  /** Returns whether the question is settled. */
  async #applyDecisions(question: Question, decisions: Decisions, target: QuestionTarget): Promise<boolean> {
    try {
      const [receipt] = await decideFirst((decision) => target.decide(question, decision), decisions);
      if (receipt.status === "accepted") return true;
      this.#screen.line(ignoredText(receipt));
    } catch (error) {
      const isInvalid = error instanceof InputRefused;
      const what = isInvalid ? "The decision is not valid" : "The decision was not recorded";
      this.#screen.line(`${what}: ${errorText(error)}`);
    }
    return !target.isOpen(question);
  }
}

const ignoredText = ({ reason, decidedBy }: Extract<Receipt, { status: "ignored" }>): string =>
  decidedBy === undefined ? `The decision was ignored: ${reason}.` : `Already decided by ${decidedBy}.`;
