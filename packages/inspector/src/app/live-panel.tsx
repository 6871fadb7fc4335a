/** @jsxImportSource preact */
import type { Question } from "@moora/agent";
import { computed } from "@preact/signals";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { isConnected, isLive, liveId, post, streaming } from "./live-source.ts";
import { count, goTo, position, view } from "./store.ts";

const isAtEnd = computed(() => position.value === count.value);

/** Whether the user can act: the session is live, and its newest record is shown. */
const canAct = computed(() => isLive.value && liveId.value !== undefined && isAtEnd.value);

/** What the model streams now; empty at earlier positions. */
export const streamingText = computed(() => (canAct.value ? (streaming.value?.text ?? "") : ""));

/** The questions that are open at the position. They can be answered in a live session, at its newest record. */
export function Questions(): JSX.Element | null {
  const questions = view.value?.questions ?? [];
  if (questions.length === 0) return null;
  return (
    <ul class="questions" aria-label="Open questions">
      {questions.map((question) => (
        <li key={question.digest}>
          <QuestionCard question={question} />
        </li>
      ))}
    </ul>
  );
}

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

function QuestionCard({ question }: { readonly question: Question }): JSX.Element {
  const { about, name, parameters, question: asked } = question;
  return (
    <>
      <h2>
        {titles[about]} <span class="tool">{name}</span>
      </h2>
      {asked === undefined ? null : <p class="content">{asked}</p>}
      <pre tabIndex={0}>
        {typeof parameters === "string" ? parameters : JSON.stringify(parameters, null, 2)}
      </pre>
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

function Decision({
  question: { toolCallId, digest, about, path },
}: {
  readonly question: Question;
}): JSX.Element {
  const [text, setText] = useState("");
  const [isPosting, setPosting] = useState(false);
  const decide = async (decision: unknown): Promise<void> => {
    setPosting(true);
    await post("decisions", { toolCallId, digest, ...(path === undefined ? {} : { path }), decision });
    setPosting(false);
  };
  const choices: readonly (readonly [title: string, decision: unknown])[] = {
    approval: [["Approve", "approve"] as const, ["Reject", { reject: text }] as const],
    answer: [["Answer", { answer: text }] as const, ["Do not answer", { reject: text }] as const],
    outcome: [
      ["Run again", { outcome: "run-again" }] as const,
      ["It worked", { outcome: "worked", result: text }] as const,
      ["It failed", { outcome: "failed", reason: text }] as const,
      ["Unknown", { outcome: "unknown", reason: text }] as const,
    ],
  }[about];
  return (
    <form class="decision" onSubmit={(event) => event.preventDefault()}>
      <input
        type="text"
        value={text}
        aria-label={about === "approval" ? "Reason for a rejection" : "Text"}
        placeholder={about === "approval" ? "Reason, if you reject" : "Your text"}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {choices.map(([title, decision], index) => (
        <button
          key={title}
          type="button"
          class={index === 0 ? "primary" : ""}
          disabled={isPosting}
          onClick={() => void decide(decision)}
        >
          {title}
        </button>
      ))}
    </form>
  );
}

/** Sends messages to a live session, and cancels its loop. */
export function Composer(): JSX.Element | null {
  const [text, setText] = useState("");
  if (!isLive.value || liveId.value === undefined) return null;
  if (!isAtEnd.value) {
    return (
      <p class="composer">
        <button type="button" onClick={() => goTo(count.value)}>
          Go to the newest record to act
        </button>
      </p>
    );
  }
  const send = async (): Promise<void> => {
    if (text.trim() !== "" && (await post("messages", { content: text }))) setText("");
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
      <button type="submit" class="primary">
        Send
      </button>
      <button type="button" disabled={view.value?.isRunning !== true} onClick={() => void post("cancel", {})}>
        Cancel
      </button>
    </form>
  );
}
