/** @jsxImportSource preact */
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { marks, type Mark } from "../session/marks.ts";
import { jump } from "./jump.ts";
import { isDark } from "./theme.ts";
import { laneBoxes, paintTimeline, timelineHeight } from "./timeline-paint.ts";
import {
  axis,
  checked,
  count,
  goTo,
  hasRecordWith,
  isDamaged,
  matches,
  position,
  range,
  rows,
  setAxis,
  shownRange,
  spans,
  zoom,
} from "./store.ts";

/** The timeline of the session with its controls. */
export const Timeline = (): JSX.Element => (
  <section class="timeline" aria-label="Timeline">
    <div class="timeline-body">
      <div class="lane-titles" aria-hidden="true" style={{ height: `${timelineHeight}px` }}>
        {laneBoxes.map(({ lane, title, top }) => (
          <span key={lane} style={{ top: `${top - 2}px` }}>
            {title}
          </span>
        ))}
      </div>
      <Canvas />
    </div>
    <Controls />
  </section>
);

function Canvas(): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  usePainting(canvas);
  const { from, to } = shownRange.value;
  const left = ((axis.value.valueOf(position.value) - from) / (to - from)) * 100;
  const scrub = (event: PointerEvent): void => {
    const { left: start, width } = canvas.current?.getBoundingClientRect() ?? { left: 0, width: 1 };
    goTo(axis.value.seqAt(from + ((event.clientX - start) / width) * (to - from)));
  };
  return (
    <div
      class="canvas"
      style={{ height: `${timelineHeight}px` }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        scrub(event);
      }}
      onPointerMove={(event) => {
        if (event.buttons === 1) scrub(event);
      }}
      onWheel={onWheel}
    >
      <canvas ref={canvas} aria-hidden="true" />
      {left >= 0 && left <= 100 ? <div class="cursor" style={{ left: `${left}%` }} /> : null}
    </div>
  );
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
  const shown = [count.value, checked.value, shownRange.value, matches.value, isDark.value, axis.value];
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
  canvas.height = Math.round(timelineHeight * ratio);
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
    axis: axis.value,
    range: shownRange.value,
    rows,
    spans,
    isDamaged,
    matches: matches.value,
  };
  paintTimeline(painter, { ...picture, width, color });
}

const Arrow = ({ path }: { readonly path: string }): JSX.Element => (
  <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
    <path d={path} />
  </svg>
);

/** The names of the marks, as buttons show them. */
const markTitles: Readonly<Record<Mark, string>> = {
  failure: "Failure",
  approval: "Approval",
  retry: "Retry",
  crash: "Crash",
  takeover: "Take-over",
  damage: "Damage",
};

const Controls = (): JSX.Element => (
  <div class="controls">
    <Positions />
    <input
      class="scrubber"
      type="range"
      min={0}
      max={count.value}
      value={position.value}
      aria-label="Record"
      aria-valuetext={`Record ${position.value} of ${count.value}: ${rows[position.value - 1]?.text ?? "the beginning"}`}
      onInput={(event) => goTo(event.currentTarget.valueAsNumber)}
    />
    <Jumps />
    <Zoom />
  </div>
);

const Positions = (): JSX.Element => (
  <div class="group" role="group" aria-label="Position">
    <button type="button" title="First (Home)" aria-label="First" onClick={() => goTo(0)}>
      <Arrow path="M5 4v12M15 4l-7 6 7 6z" />
    </button>
    <button type="button" title="Back (←)" aria-label="Back" onClick={() => goTo(position.value - 1)}>
      <Arrow path="M13 4l-7 6 7 6z" />
    </button>
    <output class="position" aria-live="off">
      {position.value}
      <small> / {count.value}</small>
    </output>
    <button type="button" title="Forward (→)" aria-label="Forward" onClick={() => goTo(position.value + 1)}>
      <Arrow path="M7 4l7 6-7 6z" />
    </button>
    <button type="button" title="Last (End)" aria-label="Last" onClick={() => goTo(count.value)}>
      <Arrow path="M15 4v12M5 4l7 6-7 6z" />
    </button>
  </div>
);

const Jumps = (): JSX.Element => (
  <div class="group jumps" role="group" aria-label="Go to the next">
    {marks.map((mark) => (
      <button
        key={mark}
        type="button"
        class={`jump mark-${mark}`}
        disabled={!hasRecordWith(mark)}
        title={`Next ${markTitles[mark].toLowerCase()} (${mark.charAt(0)}); with Shift: the one before`}
        onClick={(event) => jump(mark, event.shiftKey ? -1 : 1)}
      >
        {markTitles[mark]}
      </button>
    ))}
  </div>
);

const Zoom = (): JSX.Element => (
  <div class="group" role="group" aria-label="Zoom">
    <button
      type="button"
      aria-pressed={axis.value.kind === "time"}
      onClick={() => setAxis(axis.value.kind === "time" ? "seq" : "time")}
    >
      Time
    </button>
    <button type="button" aria-label="Zoom out" title="Zoom out (-)" onClick={() => zoom(2)}>
      −
    </button>
    <button type="button" aria-label="Zoom in" title="Zoom in (+)" onClick={() => zoom(0.5)}>
      +
    </button>
    <button
      type="button"
      disabled={range.value === undefined}
      title="Whole session (0)"
      onClick={() => void (range.value = undefined)}
    >
      All
    </button>
  </div>
);
