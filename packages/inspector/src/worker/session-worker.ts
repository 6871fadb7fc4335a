import { questionsAt } from "@moora/agent/internal";
import { compareSessions, diffPositions } from "../session/compare.ts";
import { historyPosition } from "../session/history-position.ts";
import { positionViewAt } from "../session/position-view.ts";
import { readExport, UnreadableSession, type ExportReader } from "../session/read-export.ts";
import { RecordChecker, unreadableText, type RecordCheck } from "../session/record-check.ts";
import { redactedExport } from "../session/redact.ts";
import { requestJsonAt } from "../session/request-view.ts";
import { isEmptyQuery, parseQuery, search } from "../session/search.ts";
import { SessionHistory, type RecordRow } from "../session/session-history.ts";
import type { Span } from "../session/spans.ts";
import { goldenLog, transcriptTest } from "../session/test-text.ts";
import { childrenAt } from "../session/tree.ts";
import type { OpenedSession, WorkerCalls, WorkerEvent } from "./protocol.ts";

/** The records that are read, and those that are checked, before other calls are answered. */
const recordsPerSlice = 1_000;

/** Lets calls that wait be answered. */
type Pause = () => Promise<void>;

type Answer<Name extends keyof WorkerCalls> =
  | ReturnType<WorkerCalls[Name]>
  | Promise<ReturnType<WorkerCalls[Name]>>;

/** The handlers of all calls. */
export type WorkerHandlers = {
  readonly [Name in keyof WorkerCalls]: (...args: Parameters<WorkerCalls[Name]>) => Answer<Name>;
};

/** A session with what was read of its file. */
interface OpenFile {
  readonly history: SessionHistory;
  readonly headerText: string;
  checker: RecordChecker | undefined;
}

/** The worker without its thread: holds the open sessions and answers calls. */
export class SessionWorker {
  readonly #emit: (event: WorkerEvent) => void;
  readonly #pause: Pause;
  #file: OpenFile | undefined;
  #other: OpenFile | undefined;

  constructor(emit: (event: WorkerEvent) => void, pause: Pause) {
    this.#emit = emit;
    this.#pause = pause;
  }

  readonly handlers: WorkerHandlers = {
    open: async (text) => {
      const reader = readExport(typeof text === "string" ? text : await text.text());
      const file = openFile(reader);
      this.#file = file;
      this.#other = undefined;
      this.#emit({ event: "opening", id: reader.id, total: reader.lines - 1 });
      const problem = await this.#read(reader, file, () => this.#file === file);
      void this.#check(file);
      return opened(file, problem ?? reader.problem());
    },
    openOther: async (text) => {
      const reader = readExport(typeof text === "string" ? text : await text.text());
      const file = openFile(reader);
      this.#other = file;
      const problem = await this.#read(reader, file, () => false);
      return opened(file, problem ?? reader.problem());
    },
    append: (records) => {
      const file = this.#opened;
      const rows: RecordRow[] = [];
      const spans: Span[] = [];
      for (const record of records) {
        if (record.seq !== file.history.length + 1) continue;
        const added = file.history.append(record);
        rows.push(added.row);
        spans.push(...added.spans);
      }
      if (rows.length > 0) this.#emit({ event: "rows", rows, spans });
      if (file.checker !== undefined) void this.#check(file);
    },
    openCalls: (toolCallIds) => {
      const { toolCalls } = this.#history.last;
      return toolCallIds.filter((id) => toolCalls[id]?.result === null);
    },
    openQuestions: () => questionsAt(this.#history.last).length,
    complete: (text) => {
      const file = this.#opened;
      file.history.complete(readExport(text).next(file.history.length));
      file.checker = undefined;
      void this.#check(file);
    },
    position: () => historyPosition(this.#history),
    view: (seq, entries) => positionViewAt(this.#history, seq, entries),
    children: (seq, path, from) => {
      const { state, before } = this.#history.stepAt(seq);
      return childrenAt(state, before, path, from);
    },
    search: (typed) => {
      const query = parseQuery(typed);
      return isEmptyQuery(query) ? undefined : search(this.#history, query);
    },
    diff: (from, to) => diffPositions(this.#history, from, to),
    compare: () => {
      if (this.#other === undefined) throw new UnreadableSession("Open a second session first.");
      return compareSessions(this.#history, this.#other.history);
    },
    requestJson: (seq) => requestJsonAt(this.#history, seq),
    transcriptTest: (seq) => transcriptTest(this.#history, seq),
    goldenLog: (seq) => goldenLog(this.#history, this.#opened.headerText, seq),
    redact: (redaction) => redactedExport(this.#history, redaction),
  };

  get #opened(): OpenFile {
    if (this.#file === undefined) throw new UnreadableSession("No session is open.");
    return this.#file;
  }

  get #history(): SessionHistory {
    return this.#opened.history;
  }

  /** Reads all records. Returns why it ended before the last one; undefined if it did not. */
  async #read(reader: ExportReader, file: OpenFile, reports: () => boolean): Promise<string | undefined> {
    const { history } = file;
    for (;;) {
      const records = reader.next(recordsPerSlice);
      if (records.length === 0) return undefined;
      const rows: RecordRow[] = [];
      const spans: Span[] = [];
      let problem: string | undefined;
      for (const record of records) {
        try {
          const added = history.append(record);
          rows.push(added.row);
          spans.push(...added.spans);
        } catch (error) {
          problem = unreadableText(file, record, error instanceof Error ? error.message : String(error));
          break;
        }
      }
      if (reports()) this.#emit({ event: "rows", rows, spans });
      if (problem !== undefined) return problem;
      await this.#pause();
    }
  }

  /** Checks the records that were not checked yet. */
  async #check(file: OpenFile): Promise<void> {
    const checker = (file.checker ??= new RecordChecker(file.history, file.headerText));
    while (this.#file === file && file.checker === checker && checker.seq < file.history.length) {
      const from = checker.seq + 1;
      const checks: RecordCheck[] = [];
      while (checks.length < recordsPerSlice) {
        const check = checker.next();
        if (check === undefined) break;
        checks.push(check);
      }
      this.#emit({ event: "checked", from, checks });
      await this.#pause();
    }
  }
}

const openFile = ({ id, header, headerText }: ExportReader): OpenFile => ({
  history: new SessionHistory(id, header),
  headerText,
  checker: undefined,
});

function opened({ history: { id, header, length } }: OpenFile, problem: string | undefined): OpenedSession {
  const { agent, parent } = header;
  return { id, agent: agent.name, parent, records: length, problem };
}
