/** @jsxImportSource preact */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { forkCommand, goldenTest } from "../session/commands.ts";
import { copyText, notify, saveFile } from "./copy.tsx";
import { Dialog } from "./dialog.tsx";
import { loadDigests } from "./live-source.ts";
import { messageOf, position, session, worker } from "./store.ts";

export const isSharing = signal(false);

/** What can be made of the session at the position: a link, a fork, a test, a file, a redacted file. */
export function ShareDialog(): JSX.Element | null {
  if (!isSharing.value) return null;
  const id = session.value?.id ?? "session";
  const seq = position.value;
  const file = `${id.replaceAll(/[^\w.-]/g, "_")}-${seq}.jsonl`;
  return (
    <Dialog title={`Record ${seq} of ${id}`} onClose={() => void (isSharing.value = false)}>
      <div class="actions">
        <Action text="Copy a link to this record" run={() => copyText(location.href, "The link")} />
        <Action
          text="Copy the command that forks here"
          run={() => copyText(forkCommand(id, seq), "The command")}
        />
        <Action
          text="Copy as a test: a transcript"
          run={async () => copyText(await worker.call("transcriptTest", seq), "The test")}
        />
        <Action text="Copy as a test: a golden log" run={() => copyText(goldenTest(id, file), "The test")} />
        <Action text={`Save the golden log ${file}`} run={() => saveGolden(seq, file)} />
      </div>
      <Redaction />
    </Dialog>
  );
}

interface ActionProps {
  readonly text: string;
  readonly run: () => Promise<void>;
}

const Action = ({ text, run }: ActionProps): JSX.Element => (
  <button type="button" onClick={() => void run().catch((error: unknown) => notify(messageOf(error)))}>
    {text}
  </button>
);

async function saveGolden(seq: number, file: string): Promise<void> {
  let text = await worker.call("goldenLog", seq);
  if (text === undefined) {
    await loadDigests();
    text = await worker.call("goldenLog", seq);
  }
  if (text === undefined) notify("The newest records have no digests yet. Try again.");
  else saveFile(file, text);
}

function Redaction(): JSX.Element {
  const [words, setWords] = useState("");
  const save = async (): Promise<void> => {
    const given = words.split(",").flatMap((word) => (word.trim() === "" ? [] : [word.trim()]));
    const text = await worker.call(
      "redact",
      given.length === 0 ? { what: "texts" } : { what: "words", words: given },
    );
    saveFile("redacted.jsonl", text);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save().catch((error: unknown) => notify(messageOf(error)));
      }}
    >
      <h3>Redacted, to share it</h3>
      <p>
        A new file in which every text of people, models, tools and data is hidden. It replays in the same
        way. Tool names, ids, keys and numbers stay. Or name words, and only these and the contents of files
        are hidden.
      </p>
      <label>
        Only these words, with commas between them
        <input type="text" value={words} onInput={(event) => setWords(event.currentTarget.value)} />
      </label>
      <button type="submit" class="primary">
        Save the redacted session
      </button>
    </form>
  );
}
