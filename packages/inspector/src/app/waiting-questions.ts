import { computed, effect, signal } from "@preact/signals";
import { isLive, liveId, liveStatus } from "./live-source.ts";
import { count, goTo, view, worker } from "./store.ts";
import { subAgentQuestions } from "./sub-agent-questions.ts";

/** Whether a session of the server is followed. */
export const isFollowed = computed(
  () => isLive.value && liveId.value !== undefined && liveStatus.value !== "ended",
);

/** The open questions of the session itself after its newest record. */
const own = signal(0);

/** How many questions wait in the session that is followed, whatever position is shown. */
export const waiting = computed(() => (isFollowed.value ? own.value + subAgentQuestions.value.length : 0));

/** The number of waiting questions as a text; empty if there are none. */
export const waitingText = computed(() => (waiting.value === 0 ? "" : questionsText(waiting.value)));

/** A number of questions as a text. */
export const questionsText = (open: number): string =>
  open === 1 ? "1 open question" : `${open} open questions`;

/** Counts the waiting questions at each record, and shows their number in the title of the page. */
export function followQuestions(): void {
  const { title } = document;
  effect(() => {
    if (isFollowed.value) void countQuestions(count.value);
    else own.value = 0;
  });
  effect(() => void (document.title = waiting.value === 0 ? title : `(${waiting.value}) ${title}`));
}

async function countQuestions(at: number): Promise<void> {
  const open = await worker.call("openQuestions");
  if (at === count.value) own.value = open;
}

/** Goes to the newest record, and focuses its questions when they are shown. */
export function goToQuestions(): void {
  goTo(count.value);
  const stop = effect(() => {
    if (view.value?.seq !== count.value) return;
    requestAnimationFrame(() => {
      stop();
      document.querySelector<HTMLElement>(".moora-questions")?.focus();
    });
  });
}
