import {
  headerToState,
  inputDescriber,
  recordToInput,
  type AgentChange,
  type AgentInput,
  type AgentState,
  type ControlMove,
  type SessionHeader,
} from "@moora/agent";
import {
  agentTransition,
  controlName,
  inputsIn,
  inputTraits,
  step,
  type Control,
} from "@moora/agent-core-state-machine";
import { marksOf } from "./marks.ts";
import { SpanTracker, type Span } from "./spans.ts";
import { controlAfter, workAt, type Work } from "./work.ts";

/** A record as the inspector has it. A streamed record has no digests. */
export interface HistoryRecord {
  readonly seq: number;
  readonly body: string;
  readonly changesDigest?: string;
  readonly digest?: string;
}

/** One record in the list of records. */
export interface RecordRow {
  readonly seq: number;
  readonly type: AgentInput["type"];
  /** In milliseconds since 1970, by the clock of the process that wrote it. */
  readonly timestamp: number;
  readonly text: string;
  /** The control state after it. */
  readonly state: string;
  readonly loop: number;
  readonly step: number;
  readonly marks: number;
}

/** The effect of one record: the states before and after it, its moves in the control graph, and its changes. */
export interface HistoryStep {
  readonly input: AgentInput | undefined;
  readonly before: AgentState;
  readonly state: AgentState;
  readonly moves: readonly ControlMove[];
  readonly changes: readonly AgentChange[];
}

/**
 * The number of records between two checkpoints: a position is at most this many inputs away from one. A view of one needs several
 * positions. A checkpoint of a long session takes about 2.5 KB.
 */
export const checkpointDistance = 5;

const maxRecent = 16;

/**
 * A session whose every position can be visited. Records are folded once, in order, with a checkpoint every
 * `checkpointDistance` records; checkpoints share the parts that did not change.
 */
export class SessionHistory {
  readonly header: SessionHeader;
  readonly id: string;
  readonly records: HistoryRecord[] = [];
  readonly inputs: AgentInput[] = [];
  readonly rows: RecordRow[] = [];
  /** The records after which the model was called with the request of their position. */
  readonly modelCalls: number[] = [];
  readonly #checkpoints: AgentState[];
  #last: AgentState;
  readonly #describe: (input: AgentInput) => string;
  readonly #spans = new SpanTracker();
  readonly #callNames = new Map<string, string>();
  /** States that were visited last: the parts of one view ask for the same ones. */
  readonly #recent = new Map<number, AgentState>();
  /** The calls whose last attempt has asked a person. */
  readonly #asked = new Set<string>();
  #control: Control;
  #work: readonly Work[] = [];
  #loop: number;
  #step: number;
  /** Whether the owner has acted since it opened the session. A snapshot is the last that it writes when it closes the session. */
  #isOwnerActive = false;

  /** `initial` is the state before the first record. Default: the one of the header. */
  constructor(id: string, header: SessionHeader, initial: AgentState = headerToState(header)) {
    this.id = id;
    this.header = header;
    this.#checkpoints = [initial];
    this.#last = initial;
    this.#describe = inputDescriber(header);
    this.#control = initial.reActContext.control;
    this.#loop = initial.reActContext.loop;
    this.#step = initial.reActContext.step;
  }

  /** The state after the last record. */
  get last(): AgentState {
    return this.#last;
  }

  /** The number of records. */
  get length(): number {
    return this.records.length;
  }

  /**
   * Adds the next record. Returns its row, and the spans that began or ended with it. Throws `SessionError` for a record that a
   * newer release wrote.
   */
  append(record: HistoryRecord): { readonly row: RecordRow; readonly spans: readonly Span[] } {
    const input = recordToInput(record);
    const seq = this.records.length + 1;
    const { state, moves, changes } = step(input)(this.#last);
    const owner = this.#isOwnerActive ? this.#last.owner : null;
    this.#last = state;
    this.#learn(input, changes);
    const before = this.#work;
    const parts = inputsIn(input);
    const isRetried = parts.filter((part) => this.#isRetry(part)).length > 0;
    if (input.type === "tool-call-asked") this.#asked.add(input.toolCallId);
    this.#control = controlAfter(this.#control, changes);
    this.#work = workAt(this.#control, {
      loop: this.#loop,
      step: this.#step,
      callName: (id) => this.#callNames.get(id) ?? "",
    });
    const row: RecordRow = {
      seq,
      type: input.type,
      timestamp: input.timestamp,
      text: this.#describe(input),
      state: controlName(this.#control),
      loop: this.#loop,
      step: this.#step,
      marks: marksOf({ input, moves, changes, before, after: this.#work, owner, isRetried }),
    };
    if (inputTraits[input.type].access === "owner") this.#isOwnerActive = !isBookkeeping(input);
    if (parts.some(({ type }) => type === "llm-call-started")) this.modelCalls.push(seq);
    this.records.push(record);
    this.inputs.push(input);
    this.rows.push(row);
    if (seq % checkpointDistance === 0) this.#checkpoints.push(state);
    return { row, spans: this.#spans.next(seq, this.#work) };
  }

  /** Whether an input starts a call once more, and not with the reply to its question. */
  #isRetry(part: AgentInput): boolean {
    if (part.type !== "tool-call-started") return false;
    return !this.#asked.delete(part.toolCallId) && part.attempt > 1;
  }

  /**
   * Gives streamed records their digests, from a newer export of the same session. Throws for records of another history, and then
   * changes nothing.
   */
  complete(records: readonly HistoryRecord[]): void {
    const known = this.records.map((record, index) => completed(record, records[index]));
    known.forEach((record, index) => void (this.records[index] = record));
  }

  #learn(input: AgentInput, changes: readonly AgentChange[]): void {
    for (const change of changes) {
      if (change.op !== "set-context") continue;
      const { loop = this.#loop, step: at = this.#step } = change.fields;
      this.#loop = loop;
      this.#step = at;
    }
    if (input.type === "re-act-observed" && input.observation.type === "continue-re-act")
      for (const [id, { name }] of Object.entries(input.observation.toolCalls)) this.#callNames.set(id, name);
  }

  /** The state after the first `seq` records. */
  stateAt(seq: number): AgentState {
    const recent = this.#recent.get(seq);
    if (recent !== undefined) return recent;
    const index = Math.min(Math.floor(seq / checkpointDistance), this.#checkpoints.length - 1);
    let state = this.#checkpoints[index] ?? this.#last;
    // One transition for each input, and not a replay: it shares the collections of a long session instead of copying them.
    for (const input of this.inputs.slice(index * checkpointDistance, seq))
      state = agentTransition(input)(state);
    this.#remember(seq, state);
    return state;
  }

  /** What record `seq` has done; for 0, the state before the first record. */
  stepAt(seq: number): HistoryStep {
    const input = this.inputs[seq - 1];
    const before = this.stateAt(Math.max(0, seq - 1));
    if (input === undefined) return { input, before, state: before, moves: [], changes: [] };
    const { state, moves, changes } = step(input)(before);
    this.#remember(seq, state);
    return { input, before, state, moves, changes };
  }

  #remember(seq: number, state: AgentState): void {
    this.#recent.set(seq, state);
    const [oldest] = this.#recent.keys();
    if (this.#recent.size > maxRecent && oldest !== undefined) this.#recent.delete(oldest);
  }
}

const isBookkeeping = ({ type }: AgentInput): boolean =>
  type === "session-opened" || type === "snapshot-taken";

function completed(record: HistoryRecord, exported: HistoryRecord | undefined): HistoryRecord {
  if (record.digest !== undefined || exported === undefined) return record;
  if (JSON.stringify(recordToInput(record)) === JSON.stringify(recordToInput(exported))) return exported;
  throw new Error(`Record ${record.seq} is another one than that of the server. Reload the page.`);
}
