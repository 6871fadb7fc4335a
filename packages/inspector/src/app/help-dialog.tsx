/** @jsxImportSource preact */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { Dialog } from "./dialog.tsx";

export const isHelpOpen = signal(false);

const keys: readonly (readonly [keys: string, what: string])[] = [
  ["← →", "Record before, record after; with Shift: ten"],
  ["Home End", "First, last"],
  ["f a r c d", "Next failure, approval, retry, crash, damage; with Shift: the one before"],
  ["t", "Next take-over; with Shift: the one before"],
  ["/", "Search"],
  ["n N", "Next match, match before"],
  ["+ - 0", "Zoom in, zoom out, whole session"],
  ["1 to 9", "Panels"],
  ["q", "Questions that wait in a live session"],
  ["p", "Compare others with this record"],
  ["s", "Share: link, fork, tests, redaction"],
  ["l", "Light or dark"],
  ["?", "This help"],
];

const filters: readonly (readonly [filter: string, what: string])[] = [
  ["words", "Text anywhere in a record"],
  ["type:tool-call", "Records whose type contains this"],
  ["tool:NAME", "Calls of a tool"],
  ["state:Acting", "The control state after the record"],
  ["is:failure", "Marks: failure, approval, retry, crash, takeover"],
];

/** The keys and the filters of the search. */
export const HelpDialog = (): JSX.Element | null =>
  isHelpOpen.value ? (
    <Dialog title="Keys" onClose={() => void (isHelpOpen.value = false)}>
      <dl class="keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <h3>Search</h3>
      <dl class="keys">
        {filters.map(([filter, what]) => (
          <div key={filter}>
            <dt>
              <kbd>{filter}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  ) : null;
