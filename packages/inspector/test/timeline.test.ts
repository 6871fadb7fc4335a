import { controlEdges } from "@moora/agent-core-state-machine";
import { describe, expect, it } from "vitest";
import { Axis } from "../src/app/axis.ts";
import { drawGraph, nodeHeight, nodeWidth } from "../src/app/graph-layout.ts";
import { layOutLanes, paintTimeline, type LaneLayout, type Painter } from "../src/app/timeline-paint.ts";
import { markBit } from "../src/session/marks.ts";
import type { RecordRow } from "../src/session/session-history.ts";
import type { Span } from "../src/session/spans.ts";
import type { Lane } from "../src/session/work.ts";

const row = (seq: number, timestamp: number, marks = 0): RecordRow => ({
  seq,
  type: "session-opened",
  timestamp,
  text: "",
  state: "Idle",
  loop: 0,
  step: 0,
  marks,
});

describe("an axis", () => {
  it("finds the nearest record of a value, also where clocks were set back", () => {
    const axis = new Axis("time", [row(1, 100), row(2, 900), row(3, 300), row(4, 1_000)]);
    expect([1, 2, 3, 4].map((seq) => axis.valueOf(seq))).toEqual([100, 900, 900, 1_000]);
    expect(axis.seqAt(940)).toBe(3);
    expect(axis.seqAt(960)).toBe(4);
    expect(axis.seqAt(-5)).toBe(0);
    expect(axis.seqAt(9_999)).toBe(4);
  });

  it("zooms around a value, stays within the session, and ends at a shortest part", () => {
    const axis = new Axis(
      "seq",
      Array.from({ length: 1_000 }, (_, index) => row(index + 1, index)),
    );
    expect(axis.whole).toEqual({ from: 1, to: 1_001 });
    const half = axis.zoomed(axis.whole, 0.5, 251);
    expect(half).toEqual({ from: 126, to: 626 });
    expect(axis.zoomed(half, 100, 250)).toEqual(axis.whole);
    expect(axis.moved(half, -500)).toEqual({ from: 1, to: 501 });
    expect(axis.showing(half, 300)).toBe(half);
    expect(axis.showing(half, 990)).toEqual({ from: 501, to: 1_001 });
    expect(axis.zoomed(half, 1e-9, 251)).toEqual({ from: 249, to: 257 });
    expect(axis.part({ from: 400, to: 300 })).toEqual({ from: 300, to: 400 });
    expect(axis.part({ from: -20, to: 60 })).toEqual({ from: 1, to: 81 });
    expect(axis.part({ from: 500, to: 501 })).toEqual({ from: 496.5, to: 504.5 });
    expect(axis.part({ from: -500, to: 5_000 })).toEqual(axis.whole);
  });

  it("takes records that are added", () => {
    const rows = [row(1, 5)];
    const axis = new Axis("time", rows);
    expect(axis.whole).toEqual({ from: 5, to: 6 });
    rows.push(row(2, 500));
    expect(axis.whole).toEqual({ from: 5, to: 516.5 });
  });
});

const spans = [
  { id: 0, lane: "state", line: 0, name: "Planning", from: 1, to: 2 },
  { id: 1, lane: "tool", line: 1, name: "call_1", from: 2, to: undefined },
] as const;

const lanes = layOutLanes(new Map([["state", 1] as const, ["tool", 2] as const]));

/** What is painted, as rectangles with their colors. */
function painted(
  rows: readonly RecordRow[],
  damaged = 0,
  shown: readonly Span[] = spans,
  layout: LaneLayout = lanes,
): readonly (readonly [color: string, x: number, y: number, width: number, height: number])[] {
  const rectangles: [string, number, number, number, number][] = [];
  const painter = {
    fillStyle: "",
    fillRect: (...at: [number, number, number, number]) => void rectangles.push([painter.fillStyle, ...at]),
    clearRect: () => undefined,
  } satisfies Painter;
  const axis = new Axis("seq", rows);
  paintTimeline(painter, {
    lanes: layout,
    axis,
    range: axis.whole,
    rows,
    spans: shown,
    isDamaged: (seq) => seq === damaged,
    matches: [3],
    width: 100,
    color: (property) => property,
  });
  return rectangles;
}

describe("the timeline", () => {
  it("paints spans, matches and marks in their colors", () => {
    const rows = [row(1, 1), row(2, 2, markBit("failure")), row(3, 3), row(4, 4)];
    const colors = painted(rows).map(([color]) => color);
    expect(colors).toEqual(["--state-Planning", "--lane-tool", "--match", "--mark-failure"]);
    expect(painted(rows).every(([, , y]) => y >= 0 && y < lanes.height)).toBe(true);
  });

  it("has a lane for all work of a kind at the same time, below its label, and none for work that there is none of", () => {
    const work = ["human", "human", "loop"].map((lane, id) => ({
      id,
      lane,
      line: id % 2,
      name: "",
      from: 1,
    }));
    const shown = work.map((span) => ({ ...span, lane: span.lane as Lane, to: undefined }));
    const layout = layOutLanes(new Map([["human", 2] as const, ["loop", 1] as const]));
    expect(layout.boxes.map(({ lane }) => lane)).toEqual(["human", "loop"]);
    const [human, loop] = layout.boxes;
    const found = painted([row(1, 1)], 0, shown, layout).filter(([color]) => color.startsWith("--lane"));
    for (const [color, , y, , height] of found) {
      const [top, bottom] = color === "--lane-human" ? [human?.top, loop?.top] : [loop?.top, layout.height];
      expect(y).toBeGreaterThanOrEqual(top ?? 0);
      expect(y + height).toBeLessThan(bottom ?? 0);
    }
    expect(new Set(found.map(([, , y]) => y)).size).toBe(3);
  });

  it.each([1, 4])("shows the state after the newest record, and begins at the first one, of %d", (count) => {
    const rows = Array.from({ length: count }, (_, index) => row(index + 1, index));
    const state = { lane: "state", line: 0 } as const;
    const before = { ...state, id: 0, name: "Idle", from: 1, to: count };
    const newest = { ...state, id: 1, name: "Done", from: count, to: undefined };
    const states = painted(rows, 0, [before, newest]).filter(([color]) => color.startsWith("--state"));
    expect(states[0]?.[1]).toBe(0);
    const [color, x = 0, , width = 0] = states.at(-1) ?? [];
    expect([color, x, x + width]).toEqual(["--state-Done", 100 - 100 / count, 99]);
  });

  it("shows the worst mark of a column", () => {
    const rows = Array.from({ length: 1_000 }, (_, index) =>
      row(index + 1, index, markBit(index === 500 ? "crash" : "retry")),
    );
    const marks = painted(rows, 0).filter(([color]) => color.startsWith("--mark-"));
    expect(marks.length).toBeLessThanOrEqual(101);
    expect(marks.filter(([color]) => color === "--mark-crash")).toHaveLength(1);
    expect(painted(rows, 501).filter(([color]) => color === "--mark-damage")).toHaveLength(1);
  });
});

describe("the graph", () => {
  const custom = {
    states: ["Review", "Publish"],
    rows: { Planning: { Ready: "Review" }, Review: { Ok: "Publish" } },
    terminals: ["Publish"],
  };
  const edges = controlEdges(custom);
  const states = [...new Set(edges.flatMap(({ from, to }) => [from, to]))];

  it("has a place for each state, also custom ones, and none overlap", () => {
    const { nodes, width, height } = drawGraph(states, edges, []);
    expect(nodes.map(({ name }) => name)).toEqual(states);
    for (const [index, node] of nodes.entries()) {
      expect(node.x - nodeWidth / 2).toBeGreaterThanOrEqual(0);
      expect(node.x + nodeWidth / 2).toBeLessThanOrEqual(width);
      expect(node.y + nodeHeight / 2).toBeLessThanOrEqual(height);
      for (const other of nodes.slice(index + 1)) {
        const isApart = Math.abs(node.x - other.x) >= nodeWidth || Math.abs(node.y - other.y) >= nodeHeight;
        expect(isApart).toBe(true);
      }
    }
  });

  it("has one arrow for all edges between two states, and marks the ones that were taken", () => {
    const move = { from: "Planning", event: "Ready", to: "Review", loop: 1, step: 1, timestamp: 0 };
    const { arrows } = drawGraph(states, edges, [move]);
    expect(new Set(arrows.map(({ from, to }) => `${from} ${to}`)).size).toBe(arrows.length);
    expect(arrows.flatMap(({ events }) => events)).toHaveLength(edges.length);
    expect(arrows.filter(({ taken }) => taken.length > 0)).toMatchObject([
      { from: "Planning", to: "Review", taken: ["Ready"] },
    ]);
  });
});
