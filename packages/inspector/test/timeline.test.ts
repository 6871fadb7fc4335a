import { controlEdges } from "@moora/agent-core-state-machine";
import { describe, expect, it } from "vitest";
import { Axis } from "../src/app/axis.ts";
import { drawGraph, nodeHeight, nodeWidth } from "../src/app/graph-layout.ts";
import { paintTimeline, timelineHeight, type Painter } from "../src/app/timeline-paint.ts";
import { markBit } from "../src/session/marks.ts";
import type { RecordRow } from "../src/session/session-history.ts";

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
    const half = axis.zoomed(axis.whole, 0.5, 250);
    expect(half).toEqual({ from: 125, to: 625 });
    expect(axis.zoomed(half, 100, 250)).toEqual(axis.whole);
    expect(axis.moved(half, -500)).toEqual({ from: 0, to: 500 });
    expect(axis.showing(half, 300)).toBe(half);
    expect(axis.showing(half, 990)).toEqual({ from: 500, to: 1_000 });
    expect(axis.zoomed(half, 1e-9, 250)).toEqual({ from: 248, to: 256 });
    expect(axis.part({ from: 400, to: 300 })).toEqual({ from: 300, to: 400 });
    expect(axis.part({ from: -20, to: 60 })).toEqual({ from: 0, to: 80 });
    expect(axis.part({ from: 500, to: 501 })).toEqual({ from: 496.5, to: 504.5 });
    expect(axis.part({ from: -500, to: 5_000 })).toEqual(axis.whole);
  });

  it("takes records that are added", () => {
    const rows = [row(1, 5)];
    const axis = new Axis("time", rows);
    expect(axis.whole).toEqual({ from: 5, to: 6 });
    rows.push(row(2, 500));
    expect(axis.whole).toEqual({ from: 5, to: 500 });
  });
});

/** What is painted, as rectangles with their colors. */
function painted(
  rows: readonly RecordRow[],
  damaged = 0,
): readonly (readonly [color: string, x: number, y: number])[] {
  const rectangles: [string, number, number][] = [];
  const painter = {
    fillStyle: "",
    fillRect: (x: number, y: number) => void rectangles.push([painter.fillStyle, x, y]),
    clearRect: () => undefined,
  } satisfies Painter;
  const axis = new Axis("seq", rows);
  const spans = [
    { id: 0, lane: "state", line: 0, name: "Planning", from: 1, to: 2 },
    { id: 1, lane: "tool", line: 1, name: "call_1", from: 2, to: undefined },
  ] as const;
  paintTimeline(painter, {
    axis,
    range: axis.whole,
    rows,
    spans,
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
    expect(painted(rows).every(([, , y]) => y >= 0 && y < timelineHeight)).toBe(true);
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
