/** @jsxImportSource preact */
import type { Difference } from "@moora/agent";
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { SessionComparison } from "../session/compare.ts";
import type { RecordRow } from "../session/session-history.ts";
import { notify } from "./copy.tsx";
import { RecordLink } from "./detail-panels.tsx";
import { messageOf, position, session, view, worker } from "./store.ts";

/** The position that others are compared with; undefined for the one before. */
export const pinned = signal<number | undefined>(undefined);

/** Keeps the present position to compare others with; again: no longer. */
export const togglePin = (): void =>
  void (pinned.value = pinned.value === position.value ? undefined : position.value);

/** The differences from the pinned position to the present one. */
export function DiffPanel(): JSX.Element | null {
  const seq = view.value?.seq;
  const from = pinned.value ?? Math.max(0, (seq ?? 0) - 1);
  const [differences, setDifferences] = useState<readonly Difference[] | undefined>(undefined);
  useEffect(() => {
    let isCurrent = true;
    if (seq === undefined) return undefined;
    worker.call("diff", from, seq).then(
      (diff) => {
        if (isCurrent) setDifferences(diff.differences);
      },
      (error: unknown) => notify(messageOf(error)),
    );
    return () => void (isCurrent = false);
  }, [seq, from]);
  if (seq === undefined) return null;
  return (
    <div class="diff">
      <p class="facts">
        <span>
          From <RecordLink seq={from} /> to <RecordLink seq={seq} />
        </span>
        <button type="button" aria-pressed={pinned.value !== undefined} onClick={togglePin}>
          {pinned.value === undefined
            ? "Compare others with this record (p)"
            : `Record ${pinned.value} is kept (p)`}
        </button>
      </p>
      {differences === undefined ? null : <Differences differences={differences} a="before" b="after" />}
    </div>
  );
}

interface DifferencesProps {
  readonly differences: readonly Difference[];
  readonly a: string;
  readonly b: string;
}

/** One block for each field. The roles keep it a table for screen readers, whatever its layout is. */
function Differences({ differences, a, b }: DifferencesProps): JSX.Element {
  if (differences.length === 0) return <p class="empty">The states are the same.</p>;
  return (
    <table class="differences" role="table">
      <thead role="rowgroup">
        <tr role="row">
          <th scope="col" role="columnheader">
            Field
          </th>
          <th scope="col" role="columnheader">
            {a}
          </th>
          <th scope="col" role="columnheader">
            {b}
          </th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {differences.map((difference) => (
          <DifferenceRow key={difference.path} difference={difference} />
        ))}
      </tbody>
    </table>
  );
}

function DifferenceRow({ difference }: { readonly difference: Difference }): JSX.Element {
  const { path, a: before, b: after } = difference;
  const kind = before === undefined ? "addition" : after === undefined ? "removal" : "change";
  return (
    <tr role="row" class={kind}>
      <th scope="row" role="rowheader">
        {path}
      </th>
      <td role="cell" class="removed">
        {valueText(before)}
      </td>
      <td role="cell" class="added">
        {valueText(after)}
      </td>
    </tr>
  );
}

const maxValue = 2_000;

function valueText(value: unknown): string {
  if (value === undefined) return "–";
  const text = JSON.stringify(value, null, 2);
  return text.length <= maxValue ? text : `${text.slice(0, maxValue).toWellFormed()}…`;
}

/** Compares the session with a second file, from the record at which they part. */
export function ComparePanel(): JSX.Element {
  const [other, setOther] = useState<{ readonly id: string; readonly found: SessionComparison } | undefined>(
    undefined,
  );
  const open = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    try {
      const { id } = await worker.call("openOther", file);
      setOther({ id, found: await worker.call("compare") });
    } catch (error) {
      notify(messageOf(error));
    }
  };
  return (
    <div class="compare">
      <p class="facts">
        <label class="file">
          Compare with another session
          <input
            type="file"
            accept=".jsonl"
            onChange={(event) => void open(event.currentTarget.files?.[0])}
          />
        </label>
      </p>
      {other === undefined ? (
        <p class="empty">
          Choose an exported session, such as a fork of this one: both are shown from where they part.
        </p>
      ) : (
        <Comparison id={other.id} found={other.found} />
      )}
    </div>
  );
}

function Comparison({ id, found }: { readonly id: string; readonly found: SessionComparison }): JSX.Element {
  const here = session.value?.id ?? "this session";
  const { common, a, b, differences } = found;
  return (
    <>
      <p>
        Both have the same records until <RecordLink seq={common.a} />.
      </p>
      <div class="sides">
        <Side title={here} rows={a} links />
        <Side title={id} rows={b} />
      </div>
      <h2>The last states</h2>
      <Differences differences={differences} a={here} b={id} />
    </>
  );
}

interface SideProps {
  readonly title: string;
  readonly rows: readonly RecordRow[];
  readonly links?: boolean;
}

const Side = ({ title, rows, links = false }: SideProps): JSX.Element => (
  <section aria-label={title}>
    <h2>{title}</h2>
    {rows.length === 0 ? <p class="empty">No further record.</p> : null}
    <ol>
      {rows.map(({ seq, text }) => (
        <li key={seq}>
          {links ? <RecordLink seq={seq} /> : <span class="seq">{seq}</span>} {text}
        </li>
      ))}
    </ol>
  </section>
);
