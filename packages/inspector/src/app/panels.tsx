/** @jsxImportSource preact */
import { computed, signal } from "@preact/signals";
import type { ComponentType, JSX } from "preact";
import { useEffect } from "preact/hooks";
import { ConversationPanel } from "./conversation-panel.tsx";
import { DataPanel, EffectsPanel, RecordPanel, UsagePanel } from "./detail-panels.tsx";
import { ComparePanel, DiffPanel } from "./diff-panel.tsx";
import { GraphPanel } from "./graph-panel.tsx";
import { RecordList } from "./record-list.tsx";
import { RequestPanel } from "./request-panel.tsx";
import { StateTree } from "./state-tree.tsx";
import { view } from "./store.ts";
import { waiting } from "./waiting-questions.ts";

/** A panel with its tab. `beside`: on a page of this width, in pixels, it is always shown beside the others. */
interface Panel {
  readonly id: string;
  readonly title: string;
  readonly component: ComponentType;
  readonly beside?: number;
}

const panels: readonly Panel[] = [
  { id: "records", title: "Records", component: RecordList, beside: 720 },
  { id: "conversation", title: "Chat", component: ConversationPanel, beside: 1_160 },
  { id: "graph", title: "Graph", component: GraphPanel },
  { id: "request", title: "Request", component: RequestPanel },
  { id: "state", title: "State", component: StateTree },
  { id: "record", title: "Record", component: RecordPanel },
  { id: "effects", title: "Effects", component: EffectsPanel },
  { id: "data", title: "Data", component: DataPanel },
  { id: "usage", title: "Usage", component: UsagePanel },
  { id: "diff", title: "Diff", component: DiffPanel },
  { id: "compare", title: "Compare", component: ComparePanel },
];

const width = signal(innerWidth);
addEventListener("resize", () => void (width.value = innerWidth));

const isBeside = ({ beside }: Panel): boolean => beside !== undefined && width.value >= beside;
const tabs = computed(() => panels.filter((panel) => !isBeside(panel)));

/** The tab that the user or a link chose, by its id. */
export const chosen = signal<string | undefined>(undefined);

/** The chosen tab; else the conversation if it has no place of its own, else the graph. */
const current = computed(() => {
  const ids = [chosen.value, "conversation", "graph"];
  return ids.map((wanted) => tabs.value.find(({ id }) => id === wanted)).find((tab) => tab !== undefined);
});

/** Selects a tab by its index. */
export function selectTab(index: number): void {
  const tab = tabs.value[index];
  if (tab !== undefined) chosen.value = tab.id;
}

/** The panels: those that have a place of their own, and one of the others with the tabs. `data-seq` is the record that they show. */
export const Panels = (): JSX.Element => (
  <main class="panels" tabIndex={-1} data-seq={view.value?.seq}>
    {panels.filter(isBeside).map(({ id, component: Content }) => (
      <div key={id} class={`panel panel-${id}`}>
        <Content />
      </div>
    ))}
    <div class="panel panel-tabs">
      <Tabs />
      <Selected />
    </div>
  </main>
);

function Tabs(): JSX.Element {
  const selected = current.value;
  useEffect(() => {
    document.getElementById(`tab-${selected?.id}`)?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [selected?.id, width.value]);
  const move = (event: KeyboardEvent): void => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (by === 0 || selected === undefined) return;
    const all = tabs.value;
    const next = all[(all.indexOf(selected) + by + all.length) % all.length];
    if (next === undefined) return;
    chosen.value = next.id;
    requestAnimationFrame(() => document.getElementById(`tab-${next.id}`)?.focus());
  };
  return (
    <div class="tabs" role="tablist" aria-label="Panels" onKeyDown={move}>
      {tabs.value.map(({ id, title }) => (
        <button
          key={id}
          id={`tab-${id}`}
          type="button"
          role="tab"
          aria-selected={id === selected?.id}
          aria-controls="tabpanel"
          tabIndex={id === selected?.id ? 0 : -1}
          {...(id === "conversation" && waiting.value > 0 ? { class: "waits" } : {})}
          onClick={() => void (chosen.value = id)}
        >
          {title}
          {id === "conversation" ? <WaitingSign /> : null}
        </button>
      ))}
    </div>
  );
}

/** How many questions wait: a number, and a text for screen readers. */
const WaitingSign = (): JSX.Element | null =>
  waiting.value === 0 ? null : (
    <>
      {" "}
      <span class="badge open">
        {waiting.value}
        <span class="unseen"> {waiting.value === 1 ? "open question" : "open questions"}</span>
      </span>
    </>
  );

function Selected(): JSX.Element | null {
  const panel = current.value;
  if (panel === undefined) return null;
  const { id, component: Content } = panel;
  return (
    <div
      id="tabpanel"
      class={`tabpanel tabpanel-${id}`}
      role="tabpanel"
      aria-labelledby={`tab-${id}`}
      tabIndex={0}
    >
      <Content />
    </div>
  );
}
