/** @jsxImportSource preact */
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { PositionView } from "../session/position-view.ts";
import { drawGraph, nodeHeight, nodeWidth, type GraphArrow } from "./graph-layout.ts";
import { stateClass } from "./state-colors.ts";
import { view } from "./store.ts";

/** The control graph with the present state and the edges that the record took. */
export function GraphPanel(): JSX.Element | null {
  const frame = useRef<HTMLDivElement>(null);
  const shown = view.value;
  useEffect(() => keepCurrentShown(frame.current), [shown?.control]);
  if (shown === undefined) return null;
  const { moves, control, loop, step, stepLimit } = shown;
  const walked = moves.map(({ from, event, to }) => `${from} —${event}→ ${to}`);
  const label = `Control graph. State: ${control}.${walked.length === 0 ? "" : ` Taken: ${walked.join(", ")}.`}`;
  return (
    <div class="graph-panel">
      <p class="facts">
        <span class={`pill ${stateClass(control)}`}>{control}</span>
        <span>
          loop {loop}, step {step} of {stepLimit}
        </span>
      </p>
      <div ref={frame} class="graph">
        <Graph shown={shown} label={label} />
      </div>
      <ol class="moves">
        {moves.map(({ from, event, to }, index) => (
          <li key={index}>
            {from} <b>{event}</b> → {to}
          </li>
        ))}
      </ol>
    </div>
  );
}

function Graph({ shown, label }: { readonly shown: PositionView; readonly label: string }): JSX.Element {
  const { graph, moves, control } = shown;
  const { nodes, arrows, width, height } = drawGraph(graph.states, graph.edges, moves);
  const sorted = arrows.toSorted((a, b) => a.taken.length - b.taken.length);
  return (
    <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <defs>
        {["plain", "taken"].map((kind) => (
          <marker
            key={kind}
            id={`arrow-${kind}`}
            class={`arrow-${kind}`}
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="7"
            markerHeight="7"
            orient="auto-start-reverse"
          >
            <path d="M0,0 L8,4 L0,8 z" />
          </marker>
        ))}
      </defs>
      {sorted.map((arrow) => (
        <Arrow key={`${arrow.from} ${arrow.to}`} arrow={arrow} />
      ))}
      {nodes.map(({ name, x, y }) => (
        <g key={name} class={`node ${stateClass(name)}${name === control ? " current" : ""}`}>
          <rect x={x - nodeWidth / 2} y={y - nodeHeight / 2} width={nodeWidth} height={nodeHeight} rx="9" />
          <text x={x} y={y + 4}>
            {name}
          </text>
        </g>
      ))}
      {sorted.map((arrow) => (
        <Label key={`${arrow.from} ${arrow.to}`} arrow={arrow} />
      ))}
    </svg>
  );
}

/** Scrolls to the present state, now and when the size of the page changes. Returns a function that stops it. */
function keepCurrentShown(frame: HTMLElement | null): (() => void) | undefined {
  const panel = frame?.closest<HTMLElement>("[role=tabpanel]") ?? null;
  if (frame === null || panel === null) return undefined;
  const observer = new ResizeObserver(() => showCurrent(frame, panel));
  observer.observe(frame);
  observer.observe(panel);
  return () => observer.disconnect();
}

/** Scrolls a panel that is lower than the graph to the present state. */
function showCurrent(frame: HTMLElement, panel: HTMLElement): void {
  const node = frame.querySelector(".node.current")?.getBoundingClientRect();
  if (node === undefined) return;
  const { top, bottom } = panel.getBoundingClientRect();
  const margin = Math.max(0, Math.min(node.height, (bottom - top - node.height) / 2));
  panel.scrollTop += Math.max(0, node.bottom + margin - bottom) + Math.min(0, node.top - margin - top);
}

const Arrow = ({ arrow: { path, events, taken, from, to } }: { readonly arrow: GraphArrow }): JSX.Element => (
  <path
    class={taken.length > 0 ? "edge taken" : "edge"}
    d={path}
    marker-end={`url(#arrow-${taken.length > 0 ? "taken" : "plain"})`}
  >
    <title>{`${from} → ${to}: ${events.join(", ")}`}</title>
  </path>
);

const Label = ({ arrow: { taken, labelX, labelY } }: { readonly arrow: GraphArrow }): JSX.Element | null =>
  taken.length === 0 ? null : (
    <text class="edge-label" x={labelX} y={labelY + 4}>
      {taken.join(", ")}
    </text>
  );
