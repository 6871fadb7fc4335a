/** @jsxImportSource preact */
import type { JSX } from "preact";
import { marks, type Mark } from "../session/marks.ts";
import { jump } from "./jump.ts";
import { TimelineCanvas } from "./timeline-canvas.tsx";
import {
  axis,
  count,
  goTo,
  hasRecordWith,
  laneLayout,
  position,
  range,
  rows,
  setAxis,
  zoom,
} from "./store.ts";

/** The timeline of the session with its controls. */
export const Timeline = (): JSX.Element => (
  <section class="timeline" aria-label="Timeline">
    <div class="timeline-body">
      <div class="lane-titles" aria-hidden="true" style={{ height: `${laneLayout.value.height}px` }}>
        {laneLayout.value.boxes.map(({ lane, title, top, height }) => (
          <span key={lane} style={{ top: `${top + height / 2 - 7}px` }}>
            {title}
          </span>
        ))}
      </div>
      <TimelineCanvas />
    </div>
    <Controls />
  </section>
);

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
