/** @jsxImportSource preact */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { messageOf } from "./store.ts";

/** What the page reports to the user for a moment. */
export const notice = signal("");

let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows a notice for a few seconds. */
export function notify(text: string): void {
  notice.value = text;
  clearTimeout(timer);
  timer = setTimeout(() => void (notice.value = ""), 4_000);
}

/** Copies a text to the clipboard, and reports it. `what` is the beginning of the report. */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notify(`${what} is in the clipboard.`);
  } catch (error) {
    notify(`${what} could not be copied: ${messageOf(error)}`);
  }
}

/** Saves a text as a file. */
export function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
  notify(`Saved as ${name}.`);
}

/** The notice, which a screen reader announces. */
export const Notice = (): JSX.Element => (
  <div class={notice.value === "" ? "notice" : "notice shown"} role="status">
    {notice.value}
  </div>
);
