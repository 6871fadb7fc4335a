/** @jsxImportSource preact */
import { askedText, type Question } from "@moora/agent";
import type { SubAgentQuestion } from "@moora/agent-webui-protocol";
import { computed } from "@preact/signals";
import type { JSX } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { notify } from "./copy.tsx";
import { openAndFocus } from "./focus.ts";
import { forkOf, type PostKind } from "./live-requests.ts";
import { isConnected, liveId, post, streaming } from "./live-source.ts";
import { Decision } from "./decision-form.tsx";
import { questionGuard } from "./press-guard.ts";
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
export function Questions(): JSX.Element | null {
  const own = view.value?.questions ?? [];
  const ofSubAgents = canAct.value ? subAgentQuestions.value : [];
  const open = [...own, ...ofSubAgents];
  const shown = open.map(({ digest }) => digest).join(" ");
  useLayoutEffect(() => questionGuard.raise(), [shown, canAct.value]);
  if (open.length === 0) return null;
  return (
    <ul class="questions" aria-label="Open questions" tabIndex={0} onClickCapture={holdPress}>
      {open.map((question) => (
        <li key={question.digest} tabIndex={-1}>
          <QuestionCard question={question} />
        </li>
      ))}
    </ul>
  );
}

/** Moves the focus to a question whose control was pressed before the question could be read, and does nothing else. */
function holdPress(event: MouseEvent): void {
  const { target } = event;
  if (!questionGuard.isUp.value || !(target instanceof Element)) return;
  if (target.closest("button[aria-disabled=true]") === null) return;
  event.preventDefault();
  event.stopPropagation();
  target.closest("li")?.focus();
}

/** The number of questions that wait, which a screen reader announces when it changes. */
export const QuestionStatus = (): JSX.Element => (
  <p class="unseen" role="status">
    {waitingText.value}
  </p>
);

const titles: Readonly<Record<Question["about"], string>> = {
  approval: "Approve this call?",
  outcome: "What was the outcome of this interrupted call?",
  answer: "The agent asks",
};

const reasons: Readonly<Record<Question["reason"], string>> = {
  policy: "The approval policy asks about this tool.",
  risk: "The approval policy asks about calls of this risk.",
  predicate: "The predicate of the approval policy asks about this call.",
  tool: "The tool asks about each of its calls.",
  question: "The call is a question.",
  interrupted: "The call was interrupted.",
};

function QuestionCard({ question }: { readonly question: Question | SubAgentQuestion }): JSX.Element {
  const { about, name, question: asked, path } = question;
  const isQuestion = about === "answer" && asked === undefined;
  const { text, rest } = isQuestion ? askedText(question) : { text: asked, rest: question.parameters };
  return (
    <>
      <h2>
        {titles[about]} <span class="tool">{name}</span>
      </h2>
      {path === undefined ? null : <p class="path">A sub-agent asks, below {path.join(" → ")}</p>}
      {text === undefined ? null : <p class="content">{text}</p>}
      {rest === undefined ? null : (
        <pre tabIndex={0}>{typeof rest === "string" ? rest : JSON.stringify(rest, null, 2)}</pre>
      )}
      {about === "approval" ? (
        <p class="reason">
          {question.risk === undefined ? "" : `Risk ${question.risk}. `}
          {reasons[question.reason]}
        </p>
      ) : null}
      {canAct.value ? <Decision question={question} /> : null}
    </>
  );
}

/** Sends messages to a live session, and controls its loop. */
export function Composer(): JSX.Element | null {
  const [text, setText] = useState("");
  if (!isFollowed.value) return null;
  if (!isAtEnd.value) {
    return (
      <p class="composer">
        <button type="button" onClick={() => goTo(count.value)}>
          Go to the newest record to act
        </button>
        <ForkButton />
      </p>
    );
  }
  const send = async (): Promise<void> => {
    if (text.trim() !== "" && (await control("messages", { content: text }))) setText("");
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <input
        type="text"
        value={text}
        aria-label="Message"
        placeholder={isConnected.value ? "Message to the agent" : "Connecting…"}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" class="primary" aria-disabled={!isConnected.value}>
        Send
      </button>
      <LoopButtons />
    </form>
  );
}

/** Posts to the session. Returns whether the server accepted it; what it did not is shown as a notice. */
async function control(kind: PostKind, body: object): Promise<boolean> {
  if (!isConnected.value) return false;
  const problem = await post(kind, body);
  if (problem !== undefined) notify(problem);
  return problem === undefined;
}

function LoopButtons(): JSX.Element {
  const { isRunning = false, isPaused = false, canRetry = false } = view.value ?? {};
  return (
    <div class="group" role="group" aria-label="Session" aria-disabled={!isConnected.value}>
      <button type="button" disabled={!isRunning} onClick={() => void control("cancel", {})}>
        Cancel
      </button>
      <button type="button" onClick={() => void control(isPaused ? "resume" : "pause", {})}>
        {isPaused ? "Resume" : "Pause"}
      </button>
      <button type="button" disabled={!canRetry} onClick={() => void control("retry", {})}>
        Retry loop
      </button>
      <ForkButton />
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
