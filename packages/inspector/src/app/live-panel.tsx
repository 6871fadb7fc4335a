/** @jsxImportSource preact */
import type { Decision, Question } from "@moora/agent";
import { computed } from "@preact/signals";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { MessageForm, PauseText, QuestionList } from "./components.ts";
import { notify } from "./copy.tsx";
import { openAndFocus } from "./focus.ts";
import { forkOf, type PostKind } from "./live-requests.ts";
import { isChatOpen, isConnected, liveId, post, streaming } from "./live-source.ts";
import { count, goTo, messageOf, position, view } from "./store.ts";
import { subAgentQuestions } from "./sub-agent-questions.ts";
import { isFollowed, waitingText } from "./waiting-questions.ts";

const isAtEnd = computed(() => position.value === count.value);

/** Whether the user can act: a session is followed, and its newest record is shown. */
const canAct = computed(() => isFollowed.value && isAtEnd.value);

/** What the model streams now; undefined at earlier positions. */
export const streamed = computed(() => (canAct.value ? streaming.value : undefined));

/**
 * The questions that are open at the position. They can be answered in a live session, at its newest record; only there are those
 * of sub-agents known.
 */
export function Questions(): JSX.Element {
  const own = view.value?.questions ?? [];
  const id = liveId.value;
  return (
    <QuestionList
      questions={[...own, ...(canAct.value ? subAgentQuestions.value : [])]}
      decide={canAct.value ? (question, decision) => decideIn(id, question, decision) : undefined}
      isConnected={isConnected.value}
    />
  );
}

/** Decides a question of the session on the screen, whatever is opened meanwhile. */
async function decideIn(
  id: string | undefined,
  { toolCallId, digest, path }: Question,
  decision: Decision,
): Promise<string | undefined> {
  const of = path === undefined ? {} : { path };
  return await post("decisions", { toolCallId, digest, ...of, decision }, id);
}

/** The number of questions that wait, which a screen reader announces when it changes. */
export const QuestionStatus = (): JSX.Element => (
  <p class="unseen" role="status">
    {waitingText.value}
  </p>
);

/** Sends messages to a live session, and controls its loop. */
export function Composer(): JSX.Element | null {
  if (!isFollowed.value) return null;
  if (!isAtEnd.value) {
    return (
      <p class="moora-composer">
        <button type="button" onClick={() => goTo(count.value)}>
          Go to the newest record to act
        </button>
        <ForkButton />
      </p>
    );
  }
  return (
    <MessageForm send={(content) => post("messages", { content })} isConnected={isConnected.value}>
      <LoopButtons />
    </MessageForm>
  );
}

/** Posts to the session. What the server did not accept is shown as a notice. */
export async function control(kind: PostKind, body: object): Promise<void> {
  const problem = isConnected.value ? await post(kind, body) : undefined;
  if (problem !== undefined) notify(problem);
}

/** What can be done with the loop. A chat has only what applies now. */
function LoopButtons(): JSX.Element {
  const { isRunning = false, paused, canRetry = false } = view.value ?? {};
  const isPaused = paused != null;
  const isWhole = !isChatOpen.value;
  return (
    <div
      class={isPaused ? "moora-paused" : "group"}
      role="group"
      aria-label="Session"
      aria-disabled={!isConnected.value}
    >
      {isPaused ? <PauseText reason={paused.reason} /> : null}
      {isWhole || isRunning ? (
        <button type="button" disabled={!isRunning} onClick={() => void control("cancel", {})}>
          Cancel
        </button>
      ) : null}
      {isWhole || isPaused ? (
        <button type="button" onClick={() => void control(isPaused ? "resume" : "pause", {})}>
          {isPaused ? "Resume" : "Pause"}
        </button>
      ) : null}
      {isWhole || canRetry ? (
        <button type="button" disabled={!canRetry} onClick={() => void control("retry", {})}>
          Retry loop
        </button>
      ) : null}
      {isWhole ? <ForkButton /> : null}
    </div>
  );
}

/** Forks the session at the position, and opens the fork. */
function ForkButton(): JSX.Element {
  const [isForking, setForking] = useState(false);
  const fork = async (id: string, at: number): Promise<void> => {
    setForking(true);
    try {
      await openAndFocus(await forkOf(id, at), ".panels");
      const copied =
        count.value < at ? ` It has ${count.value} records: those of snapshots are not copied.` : "";
      notify(`This is a fork of ${id} at record ${at}.${copied}`);
    } catch (error) {
      notify(messageOf(error));
    }
    setForking(false);
  };
  return (
    <button
      type="button"
      title="A new session with the records until here. Open work gets the results that this session has."
      aria-disabled={isForking}
      onClick={() => void (isForking || !isConnected.value || fork(liveId.value ?? "", position.value))}
    >
      Fork from here
    </button>
  );
}
