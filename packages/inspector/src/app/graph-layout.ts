import type { ControlEdge, ControlMove } from "@moora/agent-core-state-machine";

/** A state of the graph: the middle of its box. */
export interface GraphNode {
  readonly name: string;
  readonly x: number;
  readonly y: number;
}

/** All edges between two states as one curve. */
export interface GraphArrow {
  readonly from: string;
  readonly to: string;
  readonly events: readonly string[];
  /** The events of the record, if it took this arrow. */
  readonly taken: readonly string[];
  /** The path of a curve in SVG, and where its label is. */
  readonly path: string;
  readonly labelX: number;
  readonly labelY: number;
}

/** The control graph as it is drawn. */
export interface GraphPicture {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly GraphNode[];
  readonly arrows: readonly GraphArrow[];
}

export const nodeWidth = 130;
export const nodeHeight = 34;

/** The places of the built-in states. */
const places: Readonly<Record<string, readonly [x: number, y: number]>> = {
  Idle: [68, 150],
  Planning: [220, 150],
  WaitingForHuman: [569, 36],
  Acting: [400, 66],
  ParallelActing: [400, 222],
  Reflecting: [220, 40],
  Observing: [569, 150],
  Done: [220, 286],
  Error: [400, 290],
};

const customPerRow = 4;

/** Places the states of a graph, custom ones in rows below the others, and draws an arrow between each two with edges. */
export function drawGraph(
  states: readonly string[],
  edges: readonly ControlEdge[],
  moves: readonly ControlMove[],
): GraphPicture {
  const custom = states.filter((name) => !Object.hasOwn(places, name));
  const nodes = states.map((name): GraphNode => {
    const [x, y] = places[name] ?? customPlace(custom.indexOf(name));
    return { name, x, y };
  });
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const groups = Map.groupBy(edges, ({ from, to }) => `${from}\n${to}`);
  const arrows = [...groups.values()].flatMap((group) => {
    const [{ from, to } = { from: "", to: "" }] = group;
    const [start, end] = [byName.get(from), byName.get(to)];
    if (start === undefined || end === undefined) return [];
    const taken = moves.filter((move) => move.from === from && move.to === to).map(({ event }) => event);
    return [{ from, to, events: group.map(({ event }) => event), taken, ...curve(start, end) }];
  });
  const rows = Math.ceil(custom.length / customPerRow);
  return { width: 638, height: 314 + rows * 64, nodes, arrows };
}

const customPlace = (index: number): readonly [number, number] => [
  76 + (index % customPerRow) * 162,
  345 + Math.floor(index / customPerRow) * 64,
];

/** A curve that leaves the box of one state and ends at the box of the other, bent to one side of the straight line. */
function curve(from: GraphNode, to: GraphNode): Pick<GraphArrow, "path" | "labelX" | "labelY"> {
  if (from === to) {
    const [x, y] = [from.x, from.y - nodeHeight / 2];
    const path = `M ${x - 18} ${y} C ${x - 30} ${y - 34}, ${x + 30} ${y - 34}, ${x + 18} ${y - 2}`;
    return { path, labelX: x, labelY: y - 30 };
  }
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy);
  const bend = Math.min(26, length / 7);
  const middleX = (from.x + to.x) / 2 - (dy / length) * bend;
  const middleY = (from.y + to.y) / 2 + (dx / length) * bend;
  const start = borderPoint(from, middleX, middleY);
  const end = borderPoint(to, middleX, middleY);
  return {
    path: `M ${start.x} ${start.y} Q ${round(middleX)} ${round(middleY)} ${end.x} ${end.y}`,
    labelX: round((start.x + 2 * middleX + end.x) / 4),
    labelY: round((start.y + 2 * middleY + end.y) / 4),
  };
}

/** Where the line from the middle of a box to a point crosses its border. */
function borderPoint(
  { x, y }: GraphNode,
  toX: number,
  toY: number,
): { readonly x: number; readonly y: number } {
  const [dx, dy] = [toX - x, toY - y];
  const scale = Math.min(
    (nodeWidth / 2 + 3) / Math.max(Math.abs(dx), 1e-6),
    (nodeHeight / 2 + 3) / Math.max(Math.abs(dy), 1e-6),
  );
  return { x: round(x + dx * scale), y: round(y + dy * scale) };
}

const round = (value: number): number => Math.round(value * 10) / 10;
