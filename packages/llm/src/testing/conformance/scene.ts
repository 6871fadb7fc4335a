import type { LlmCallOptions, LlmChunk } from "../../caller.ts";
import type { LlmFailure, LlmFailureKind, LlmOutcome } from "../../outcome.ts";
import type { LlmPart, LlmRequest } from "../../request.ts";
import type {
  ConformanceSubject,
  HarnessSetup,
  LlmFeature,
  LlmHarness,
  ScriptedAnswer,
  ServerBehavior,
} from "./harness.ts";
import { requestOf, text } from "./requests.ts";

/** A caller violates the contract of the port. */
export class ConformanceError extends Error {
  override readonly name = "ConformanceError";
}

/** Throws a `ConformanceError` with this message if a condition does not hold. */
export function check(holds: boolean, what: string): asserts holds {
  if (!holds) throw new ConformanceError(what);
}

/** Throws a `ConformanceError` if two values are different as JSON. `what` names the value in the message. */
export function equal(actual: unknown, expected: unknown, what: string): void {
  const [got, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  check(got === wanted, `${what} must be ${short(wanted)}, got ${short(got)}`);
}

const short = (words: string | undefined): string =>
  words === undefined ? "nothing" : words.length > 600 ? `${words.slice(0, 600)}...` : words;

/** An answer, and the chunks that were streamed. */
export type Answered = Extract<LlmOutcome, { ok: true }> & { readonly chunks: readonly LlmChunk[] };

/** A failure, and the text before it. */
export type Failed = LlmFailure & Extract<LlmOutcome, { ok: false }>;

/** Limits of silence that are not exceeded on one machine, even a slow one. */
const longTimeouts: LlmCallOptions = { firstChunkTimeoutMs: 20_000, idleTimeoutMs: 20_000 };

/** What one case plays in: a caller, and the server that it calls. */
export class Scene {
  readonly harness: LlmHarness;
  readonly subject: ConformanceSubject;

  constructor(harness: LlmHarness, subject: ConformanceSubject) {
    this.harness = harness;
    this.subject = subject;
  }

  /** The body of the newest request. */
  get body(): string {
    return this.harness.bodies.at(-1) ?? "";
  }

  /** Sends a request to a server that behaves like this. */
  async outcome(
    behavior: ServerBehavior,
    request: LlmRequest = requestOf(),
    options: LlmCallOptions = {},
  ): Promise<LlmOutcome> {
    this.harness.serve(behavior);
    return this.harness.caller.call(request, { ...longTimeouts, ...options });
  }

  /** Sends a request, by default for one short answer, and expects success. */
  async answer(
    answer: ScriptedAnswer = text("ok"),
    request?: LlmRequest,
    options: LlmCallOptions = {},
  ): Promise<Answered> {
    const chunks: LlmChunk[] = [];
    const onChunk = (chunk: LlmChunk): void => void chunks.push(chunk);
    const outcome = await this.outcome({ type: "answer", answer }, request, { onChunk, ...options });
    check(outcome.ok, outcome.ok ? "" : `The call must succeed, got ${JSON.stringify(outcome.failure)}`);
    return { ...outcome, chunks };
  }

  /** Sends a request, and expects a failure of this kind. */
  async failure(
    kind: LlmFailureKind,
    behavior: ServerBehavior,
    request?: LlmRequest,
    options?: LlmCallOptions,
  ): Promise<Failed> {
    return failureIn(await this.outcome(behavior, request, options), kind);
  }
}

/** The failure of an outcome, which must be of this kind. */
export function failureIn(outcome: LlmOutcome, kind: LlmFailureKind): Failed {
  check(!outcome.ok, `The call must fail (${kind}), got ${short(JSON.stringify(outcome))}`);
  check(
    outcome.failure.kind === kind,
    `The call must fail as ${kind}, got ${JSON.stringify(outcome.failure)}`,
  );
  return { ...outcome, ...outcome.failure };
}

/** One rule that every caller follows. `run` rejects for a caller that does not. */
export interface ConformanceCase {
  readonly name: string;
  readonly needs: readonly LlmFeature[];
  readonly setup?: HarnessSetup | undefined;
  readonly run: (scene: Scene) => Promise<void>;
}

/** Rules by their names, for callers and servers with these features. */
export const rules = (
  needs: readonly LlmFeature[],
  runs: Readonly<Record<string, ConformanceCase["run"]>>,
  setup?: HarnessSetup,
): readonly ConformanceCase[] => Object.entries(runs).map(([name, run]) => ({ name, needs, run, setup }));

/** One rule for each row of a table. */
export const rulesOf = <Row>(
  needs: readonly LlmFeature[],
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  run: (scene: Scene, row: Row) => Promise<void>,
): readonly ConformanceCase[] =>
  rows.map((row) => ({ name: nameOf(row), needs, run: (scene) => run(scene, row) }));

/** The text of all parts of an answer. */
export const textOf = ({ turn }: Answered): string =>
  turn.parts.map((part) => (part.type === "text" ? part.text : "")).join("");

/** A tool call of an answer. */
export type Call = Extract<LlmPart, { type: "tool-call" }>;

/** The tool calls of an answer. */
export const callsOf = ({ turn }: Answered): readonly Call[] =>
  turn.parts.filter((part): part is Call => part.type === "tool-call");

/** The tool calls of an answer as texts, without their ids. */
export const callTexts = (answer: Answered): readonly string[] =>
  callsOf(answer).map((call) => `${call.name}(${call.arguments})`);

/** The concatenated chunks of one type. */
export const streamedText = (chunks: readonly LlmChunk[], type: "text" | "reasoning"): string =>
  chunks.map((chunk) => (chunk.type === type ? chunk.text : "")).join("");

/** The names of the calls that were streamed. */
export const streamedNames = ({ chunks }: Answered): readonly string[] =>
  chunks.flatMap((chunk) => (chunk.type === "tool-call" ? [chunk.name] : []));
