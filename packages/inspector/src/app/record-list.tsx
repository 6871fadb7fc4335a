/** @jsxImportSource preact */
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { marksIn, type Mark } from "../session/marks.ts";
import { stateClass } from "./state-colors.ts";
import { checked, count, goTo, isDamaged, matches, position, rows } from "./store.ts";

/** The height of a row in pixels, as the style sheet has it. */
const rowHeight = 30;

/** Rows that are rendered above and below those that are seen. */
const spareRows = 8;

/** Browsers limit the height of an element: a longer list is scrolled by parts of it. */
const maxHeight = 12_000_000;

/** The list of records, or of those that the search found. Only the rows that are seen exist as elements. */
export function RecordList(): JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  const [scroll, setScroll] = useState({ top: 0, height: 600 });
  const found = matches.value;
  const total = found === undefined ? count.value : found.length;
  const scale = Math.max(1, (total * rowHeight) / maxHeight);
  const selected = indexOf(found, position.value);
  useFollowing(list, selected, total, scale);
  useLayoutEffect(() => {
    const element = list.current;
    if (element === null) return;
    const observer = new ResizeObserver(() =>
      setScroll({ top: element.scrollTop, height: element.clientHeight }),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  void checked.value;
  const first = Math.max(0, Math.floor((scroll.top * scale) / rowHeight) - spareRows);
  const last = Math.min(total, first + Math.ceil(scroll.height / rowHeight) + 2 * spareRows);
  const seqs = Array.from({ length: Math.max(0, last - first) }, (_, index) => seqOf(found, first + index));
  const isShown = selected >= first && selected < last;
  return (
    <div
      ref={list}
      class="records"
      role="listbox"
      tabIndex={0}
      aria-label={found === undefined ? "Records" : "Records that match"}
      {...(isShown ? { "aria-activedescendant": `record-${seqOf(found, selected)}` } : {})}
      onScroll={(event) =>
        setScroll({ top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight })
      }
    >
      <div class="records-space" style={{ height: `${(total * rowHeight) / scale}px` }}>
        {seqs.map((seq, index) => (
          <Row
            key={seq}
            seq={seq}
            index={first + index}
            total={total}
            top={(first + index) * rowHeight - (scale === 1 ? 0 : scroll.top * scale - scroll.top)}
          />
        ))}
      </div>
      {total === 0 ? <p class="empty">{found === undefined ? "No records." : "No record matches."}</p> : null}
    </div>
  );
}

const seqOf = (found: readonly number[] | undefined, index: number): number =>
  found === undefined ? index + 1 : (found[index] ?? 0);

/** The index of a record in the list; that of the last one before it if the search did not find it. */
function indexOf(found: readonly number[] | undefined, seq: number): number {
  if (found === undefined) return seq - 1;
  const next = found.findIndex((match) => match > seq);
  return next < 0 ? found.length - 1 : next - 1;
}

/** Scrolls so that the selected row is seen. */
function useFollowing(
  list: { readonly current: HTMLElement | null },
  selected: number,
  total: number,
  scale: number,
): void {
  useEffect(() => {
    const element = list.current;
    if (element === null || selected < 0) return;
    const top = (selected * rowHeight) / scale;
    const { scrollTop, clientHeight } = element;
    if (top < scrollTop + rowHeight || top > scrollTop + clientHeight - 2 * rowHeight)
      element.scrollTop = top - clientHeight / 2;
  }, [selected, total > selected]);
}

interface RowProps {
  readonly seq: number;
  readonly index: number;
  readonly total: number;
  readonly top: number;
}

function Row({ seq, index, total, top }: RowProps): JSX.Element | null {
  const row = rows[seq - 1];
  if (row === undefined) return null;
  const isSelected = seq === position.value;
  return (
    <div
      id={`record-${seq}`}
      class={`record ${isSelected ? "selected" : ""}`}
      role="option"
      aria-selected={isSelected}
      aria-setsize={total}
      aria-posinset={index + 1}
      style={{ transform: `translateY(${top}px)` }}
      title={row.text}
      onClick={() => goTo(seq)}
    >
      <span class="seq">{seq}</span>
      <span class={`dot ${stateClass(row.state)}`} title={row.state} />
      <span class="text">{row.text}</span>
      <Marks marks={[...(isDamaged(seq) ? (["damage"] as const) : []), ...marksIn(row.marks)]} />
    </div>
  );
}

/** The marks of a record as small labels. */
export const Marks = ({ marks }: { readonly marks: readonly Mark[] }): JSX.Element => (
  <>
    {marks.map((mark) => (
      <span key={mark} class={`mark mark-${mark}`}>
        {mark}
      </span>
    ))}
  </>
);
