/** @jsxImportSource preact */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { AxisRange } from "./axis.ts";
import { isDark } from "./theme.ts";
import { paintTimeline } from "./timeline-paint.ts";
import {
  axis,
  checked,
  count,
  goTo,
  isDamaged,
  laneLayout,
  matches,
  position,
  range,
  rows,
  shownRange,
  spans,
  zoom,
} from "./store.ts";

type PointerInCanvas = PointerEvent & { readonly currentTarget: HTMLElement };

/** The painted timeline. `data-from` and `data-to` are the part of its axis that is shown. */
export function TimelineCanvas(): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  usePainting(canvas);
  const { selected, ...listeners } = usePointer();
  const { from, to } = shownRange.value;
  const left = partAt(axis.value.valueOf(position.value));
  return (
    <div
      class="canvas"
      style={{ height: `${laneLayout.value.height}px` }}
      data-from={from}
      data-to={to}
      {...listeners}
      onWheel={onWheel}
    >
      <canvas ref={canvas} aria-hidden="true" />
      {left >= 0 && left <= 100 ? <div class="cursor" style={{ left: `${left}%` }} /> : null}
      {selected === undefined ? null : <Selection selected={selected} />}
    </div>
  );
}

/** Where a value of the axis is in the part that is shown, in percent. */
function partAt(value: number): number {
  const { from, to } = shownRange.value;
  return ((value - from) / (to - from)) * 100;
}

/** The value of the axis below the pointer. */
function valueAt({ clientX, currentTarget }: PointerInCanvas): number {
  const { from, to } = shownRange.value;
  const { left, width } = currentTarget.getBoundingClientRect();
  return from + ((clientX - left) / width) * (to - from);
}

const Selection = ({ selected: { from, to } }: { readonly selected: AxisRange }): JSX.Element => {
  const [left, right] = [partAt(Math.min(from, to)), partAt(Math.max(from, to))];
  return <div class="selection" style={{ left: `${left}%`, width: `${right - left}%` }} />;
};

/** A drag goes to the records that it passes; with Shift it selects a part of the axis, which is shown when it ends. */
function usePointer() {
  const [selected, setSelected] = useState<AxisRange | undefined>(undefined);
  return {
    selected,
    onPointerDown(event: PointerInCanvas) {
      event.currentTarget.setPointerCapture(event.pointerId);
      const value = valueAt(event);
      if (event.shiftKey) setSelected({ from: value, to: value });
      else goTo(axis.value.seqAt(value));
    },
    onPointerMove(event: PointerInCanvas) {
      if (event.buttons !== 1) return;
      const value = valueAt(event);
      if (selected === undefined) goTo(axis.value.seqAt(value));
      else setSelected({ from: selected.from, to: value });
    },
    onPointerUp() {
      if (selected !== undefined && selected.from !== selected.to) range.value = axis.value.part(selected);
      setSelected(undefined);
    },
    onPointerCancel: () => setSelected(undefined),
  };
}

function onWheel(event: WheelEvent & { readonly currentTarget: HTMLElement }): void {
  event.preventDefault();
  const { from, to } = shownRange.value;
  const { left, width } = event.currentTarget.getBoundingClientRect();
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    const by = (event.deltaX === 0 ? event.deltaY : event.deltaX) / width;
    range.value = axis.value.moved(shownRange.value, by * (to - from));
  } else zoom(Math.exp(event.deltaY / 300), from + ((event.clientX - left) / width) * (to - from));
}

/** Paints when something that is shown changes, at most once in a frame. */
function usePainting(canvas: { readonly current: HTMLCanvasElement | null }): void {
  const shown = [
    count.value,
    checked.value,
    shownRange.value,
    matches.value,
    isDark.value,
    axis.value,
    laneLayout.value,
  ];
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      if (canvas.current !== null) paint(canvas.current);
    });
    return () => cancelAnimationFrame(frame);
  }, shown);
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => paint(element));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
}

function paint(canvas: HTMLCanvasElement): void {
  const painter = canvas.getContext("2d");
  if (painter === null) return;
  const ratio = devicePixelRatio;
  const width = canvas.clientWidth;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(laneLayout.value.height * ratio);
  painter.scale(ratio, ratio);
  const colors = new Map<string, string>();
  const color = (property: string): string => {
    const known = colors.get(property);
    if (known !== undefined) return known;
    // As a color, so that the browser chooses the one of the theme.
    canvas.style.color = `var(${property})`;
    const value = getComputedStyle(canvas).color;
    colors.set(property, value);
    return value;
  };
  const picture = {
    lanes: laneLayout.value,
    axis: axis.value,
    range: shownRange.value,
    rows,
    spans,
    isDamaged,
    matches: matches.value,
  };
  paintTimeline(painter, { ...picture, width, color });
}
