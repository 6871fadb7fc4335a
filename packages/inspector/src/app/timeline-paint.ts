import { hasMark, type Mark } from "../session/marks.ts";
import type { RecordRow } from "../session/session-history.ts";
import type { Span } from "../session/spans.ts";
import type { Lane } from "../session/work.ts";
import type { Axis, AxisRange } from "./axis.ts";
import { stateColor } from "./state-colors.ts";

/** A lane as it is painted: where it begins, and the height of one of its lines. */
export interface LaneBox {
  readonly lane: Lane;
  readonly title: string;
  readonly top: number;
  readonly height: number;
}

const marksHeight = 18;
const gap = 5;

const rows: readonly (readonly [lane: Lane, title: string, height: number])[] = [
  ["state", "state", 16],
  ["model", "model", 12],
  ["tool", "tools", 10],
  ["human", "people", 10],
  ["wait", "waits", 9],
  ["step", "steps", 9],
  ["loop", "loops", 9],
];

/** The lanes that have lines, from top to bottom, below the marks, and the height of all, in pixels. */
export interface LaneLayout {
  readonly boxes: readonly LaneBox[];
  readonly height: number;
}

/** The layout for as many lines as the spans of each lane need. */
export function layOutLanes(lines: ReadonlyMap<Lane, number>): LaneLayout {
  const boxes: LaneBox[] = [];
  let top = marksHeight + gap;
  for (const [lane, title, height] of rows) {
    const needed = lines.get(lane) ?? 0;
    if (needed === 0) continue;
    boxes.push({ lane, title, top, height });
    top += height * needed + gap;
  }
  return { boxes, height: top };
}

/** What a timeline is painted from. */
export interface TimelinePicture {
  readonly lanes: LaneLayout;
  readonly axis: Axis;
  readonly range: AxisRange;
  readonly rows: readonly RecordRow[];
  readonly spans: readonly Span[];
  readonly isDamaged: (seq: number) => boolean;
  readonly matches: readonly number[] | undefined;
  /** The width in pixels. */
  readonly width: number;
  /** The color of a custom property of the style sheet. */
  readonly color: (property: string) => string;
}

/** What is painted on: a canvas, or a record of it. */
export type Painter = Pick<CanvasRenderingContext2D, "fillStyle" | "fillRect" | "clearRect">;

/** Paints a timeline. A column of pixels with many records shows the worst of them. */
export function paintTimeline(painter: Painter, picture: TimelinePicture): void {
  const { lanes } = picture;
  painter.clearRect(0, 0, picture.width, lanes.height);
  const boxes = new Map(lanes.boxes.map((box) => [box.lane, box]));
  const toX = xOf(picture);
  const painted = new Map<number, number>();
  for (const { lane, line, name, from, to } of picture.spans) {
    const box = boxes.get(lane);
    if (box === undefined) continue;
    const left = toX(from);
    const right = Math.max(toX(to) - 1, left + 1);
    if (right < 0 || left > picture.width) continue;
    // A narrower span than a pixel behind a painted one is not seen.
    const y = box.top + line * box.height;
    if (right <= (painted.get(y) ?? -1)) continue;
    painted.set(y, Math.ceil(right));
    painter.fillStyle = picture.color(lane === "state" ? stateColor(name) : laneColors[lane]);
    painter.fillRect(left, y, right - left, box.height - (box.height > 6 ? 1 : 0));
  }
  paintMatches(painter, picture, toX);
  paintMarks(painter, picture, toX);
}

const laneColors: Readonly<Record<Exclude<Lane, "state">, string>> = {
  step: "--lane-step",
  loop: "--lane-loop",
  model: "--lane-model",
  tool: "--lane-tool",
  human: "--lane-human",
  wait: "--lane-wait",
};

/** Where a record is, in pixels; of undefined: the end of the axis. */
function xOf({ axis, range, width }: TimelinePicture): (seq: number | undefined) => number {
  const scale = width / Math.max(range.to - range.from, 1e-9);
  return (seq) => ((seq === undefined ? axis.whole.to : axis.valueOf(seq)) - range.from) * scale;
}

/** From the worst to the least. */
const markOrder: readonly Mark[] = ["damage", "crash", "takeover", "failure", "approval", "retry"];

/** The custom property with the color of a mark. */
export const markColor = (mark: Mark): string => `--mark-${mark}`;

function paintMarks(painter: Painter, picture: TimelinePicture, toX: ReturnType<typeof xOf>): void {
  const worst = new Map<number, number>();
  for (const { seq, marks } of picture.rows) {
    const isBad = picture.isDamaged(seq);
    if (marks === 0 && !isBad) continue;
    const x = Math.round(toX(seq));
    if (x < 0 || x > picture.width) continue;
    const rank = isBad ? 0 : markOrder.findIndex((mark) => hasMark(marks, mark));
    worst.set(x, Math.min(worst.get(x) ?? markOrder.length, rank));
  }
  for (const [x, rank] of worst) {
    const mark = markOrder[rank];
    if (mark === undefined) continue;
    painter.fillStyle = picture.color(markColor(mark));
    const isCrash = mark === "crash" || mark === "takeover" || mark === "damage";
    painter.fillRect(
      x - 1,
      isCrash ? 0 : 4,
      isCrash ? 3 : 2,
      isCrash ? picture.lanes.height : marksHeight - 6,
    );
  }
}

function paintMatches(painter: Painter, picture: TimelinePicture, toX: ReturnType<typeof xOf>): void {
  if (picture.matches === undefined) return;
  painter.fillStyle = picture.color("--match");
  let last = -1;
  for (const seq of picture.matches) {
    const x = Math.round(toX(seq));
    if (x === last || x < 0 || x > picture.width) continue;
    painter.fillRect(x - 1, marksHeight - 3, 2, 4);
    last = x;
  }
}
