/** @jsxImportSource preact */
import type { AgentUsage } from "@moora/agent";
import type { JSX } from "preact";
import type { PositionView } from "../session/position-view.ts";
import { copyText, notify } from "./copy.tsx";
import { loadDigests } from "./live-source.ts";
import { Marks } from "./record-list.tsx";
import { checked, checks, goTo, messageOf, rows, view } from "./store.ts";

/** The effects that the state wants: work that runs, or will run. */
export function EffectsPanel(): JSX.Element {
  const effects = view.value?.effects ?? [];
  if (effects.length === 0) return <p class="empty">The state wants no effect at this position.</p>;
  return (
    <ul class="cards">
      {effects.map(({ key, type, ...fields }) => (
        <li key={key}>
          <h2>
            <span class="badge">{type}</span> {key}
          </h2>
          <pre tabIndex={0}>{JSON.stringify(fields, null, 2)}</pre>
        </li>
      ))}
    </ul>
  );
}

/** The application data of the session. */
export function DataPanel(): JSX.Element {
  const data = view.value?.data;
  if (data === undefined) return <p class="empty">This session has no application data.</p>;
  return (
    <div>
      <p class="facts">
        <span>version {data.version}</span>
        {data.isChanged ? <span class="badge">changed by this record</span> : null}
      </p>
      <pre tabIndex={0}>{data.json}</pre>
    </div>
  );
}

const amounts: readonly (readonly [field: keyof AgentUsage, title: string])[] = [
  ["inputTokens", "Input tokens"],
  ["cachedInputTokens", "of them from a cache"],
  ["cacheWriteTokens", "of them into a cache"],
  ["outputTokens", "Output tokens"],
  ["reasoningTokens", "of them reasoning"],
  ["cost", "Cost"],
];

/** The usage and the cost until the position, and the budget. */
export function UsagePanel(): JSX.Element | null {
  const usage = view.value?.usage;
  if (usage === undefined) return null;
  return (
    <div>
      <table>
        <thead>
          <tr>
            <th scope="col">So far</th>
            <th scope="col">Session</th>
            <th scope="col">This loop</th>
          </tr>
        </thead>
        <tbody>
          {amounts.map(([field, title]) => (
            <tr key={field}>
              <th scope="row">{title}</th>
              <td>{amountText(usage.session[field])}</td>
              <td>{amountText(usage.loop[field])}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <Budget limits={usage.limits} warnAt={usage.warnAt} />
    </div>
  );
}

const limitTitles: Readonly<Record<PositionView["usage"]["limits"][number]["name"], string>> = {
  maxTokens: "Tokens of a loop",
  maxInputTokens: "Input tokens of a loop",
  maxOutputTokens: "Output tokens of a loop",
  maxCost: "Cost of a loop",
  maxTotalTokens: "Tokens of the session",
  maxTotalCost: "Cost of the session",
};

function Budget({ limits, warnAt }: Pick<PositionView["usage"], "limits" | "warnAt">): JSX.Element {
  if (limits.length === 0) return <p class="empty">No budget is set.</p>;
  return (
    <>
      <table class="budget">
        <thead>
          <tr>
            <th scope="col">Budget</th>
            <th scope="col">Spent</th>
            <th scope="col">Limit</th>
          </tr>
        </thead>
        <tbody>
          {limits.map(({ name, spent, limit }) => (
            <tr key={name} class={spent >= limit ? "spent" : ""}>
              <th scope="row">{limitTitles[name]}</th>
              <td>
                {amountText(spent)} <small>{shareText(spent, limit)}</small>
              </td>
              <td>{amountText(limit)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {warnAt === undefined ? null : <p>The model is warned at {shareText(warnAt, 1)} of a limit.</p>}
    </>
  );
}

const shareText = (part: number, whole: number): string =>
  whole === 0 ? "" : (part / whole).toLocaleString("en-US", { style: "percent", maximumFractionDigits: 1 });

export const amountText = (amount: number | undefined): string =>
  (amount ?? 0).toLocaleString("en-US", { maximumFractionDigits: 6 });

/** The record of the position as it is in the log, and the check of its digests. */
export function RecordPanel(): JSX.Element {
  const shown = view.value;
  const record = shown?.record;
  if (shown === undefined || record === undefined)
    return <p class="empty">Before the first record there is only the header.</p>;
  return (
    <div class="raw">
      <p class="facts">
        <span class="badge">{record.type}</span>
        <time>{timeText(record.timestamp)}</time>
        <Marks marks={record.marks} />
      </p>
      <CheckFacts seq={shown.seq} />
      <dl>
        <dt>digest</dt>
        <dd>{record.digest ?? "–"}</dd>
        <dt>changes</dt>
        <dd>{record.changesDigest ?? "–"}</dd>
      </dl>
      <h2>
        Input{" "}
        <button type="button" class="quiet" onClick={() => void copyText(record.body, "The record")}>
          Copy
        </button>
      </h2>
      <pre tabIndex={0}>{record.body}</pre>
      <h2>What it changed</h2>
      <pre tabIndex={0}>{record.changes}</pre>
    </div>
  );
}

const checkTexts = {
  valid:
    "The digests are valid: the record is the one that was written, and it changes the state as it did then.",
  damaged: "The digest is wrong: this record was changed, or one before it is missing.",
  differs: "This record changes the state in another way than when it was written.",
  unchecked: "This record was streamed and has no digests yet.",
} as const;

function CheckFacts({ seq }: { readonly seq: number }): JSX.Element {
  void checked.value;
  const check = checks[seq - 1];
  if (check === undefined) return <p class="check">The digests are being checked…</p>;
  return (
    <p class={`check ${check}`}>
      {checkTexts[check]}
      {check === "unchecked" ? (
        <button
          type="button"
          class="quiet"
          onClick={() => void loadDigests().catch((error: unknown) => notify(messageOf(error)))}
        >
          Load the digests
        </button>
      ) : null}
    </p>
  );
}

/** A time in milliseconds since 1970, in UTC. */
export function timeText(timestamp: number): string {
  const time = new Date(timestamp);
  return Number.isNaN(time.getTime()) ? String(timestamp) : time.toISOString().replace("T", " ");
}

/** A link to a record. */
export const RecordLink = ({ seq }: { readonly seq: number }): JSX.Element => (
  <button type="button" class="link" title={rows[seq - 1]?.text ?? ""} onClick={() => goTo(seq)}>
    {seq}
  </button>
);
