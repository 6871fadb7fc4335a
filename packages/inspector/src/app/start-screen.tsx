/** @jsxImportSource preact */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { MessageForm, Suggestions } from "./components.ts";
import { notify } from "./copy.tsx";
import { openChat } from "./focus.ts";
import { createSession, needsToken, postTo, randomKey } from "./live-requests.ts";
import { isLive, openFile } from "./live-source.ts";
import { SessionItems } from "./session-items.tsx";
import { agents } from "./session-list.ts";
import { messageOf } from "./store.ts";
import { TokenForm } from "./token-form.tsx";

/** What is shown before a session is open. */
export const StartScreen = (): JSX.Element => (
  <main class={isLive.value ? "start live-start" : "start"}>
    {isLive.value ? <Served /> : null}
    <div class="drop">
      <h2>Open a file</h2>
      <p>
        Drop an exported session here, or choose one. It does not leave this page.{" "}
        <code>moora export SESSION session.jsonl</code> makes one.
      </p>
      <label class={isLive.value ? "file button" : "file button primary"}>
        Choose a file
        <input
          type="file"
          accept=".jsonl"
          onChange={(event) => {
            const file = event.currentTarget.files?.[0];
            if (file !== undefined) void openFile(file);
          }}
        />
      </label>
    </div>
  </main>
);

/** What the server has for its user: agents to ask, and sessions to continue. */
const Served = (): JSX.Element =>
  needsToken.value ? (
    <section class="sessions">
      <h2>Authentication is required</h2>
      <TokenForm />
    </section>
  ) : (
    <>
      {agents.value.length === 0 ? null : <NewChat />}
      <section class="sessions" aria-label="Sessions of this server">
        <h2>Sessions of this server</h2>
        <SessionItems />
      </section>
    </>
  );

/** What any agent can be asked. */
export const firstQuestions: readonly string[] = ["What can you do?"];

/** Chooses an agent, and begins a session of it: empty, or with a first question. Pressed twice, it creates one. */
function NewChat(): JSX.Element {
  const [key, setKey] = useState(randomKey);
  const [chosen, setChosen] = useState<string>();
  const agent = agents.value.find((name) => name === chosen) ?? agents.value[0] ?? "";
  const begin = async (content?: string): Promise<string | undefined> => {
    try {
      const id = await createSession(agent, key);
      const problem = content === undefined ? undefined : await postTo({ id }, "messages", { content });
      if (problem === undefined) await openChat(id);
      return problem;
    } catch (error) {
      return messageOf(error);
    }
  };
  const report = async (problem: Promise<string | undefined>): Promise<void> => {
    const text = await problem;
    if (text !== undefined) notify(text);
  };
  return (
    <section class="new-chat moora-chat" aria-label="New session">
      <h2>What should {agents.value.length === 1 ? agent : "an agent"} do?</h2>
      {agents.value.length === 1 ? null : (
        <div class="agents" role="group" aria-label="Agent">
          {agents.value.map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={name === agent}
              onClick={() => {
                setChosen(name);
                // A key belongs to what it was used for.
                setKey(randomKey());
              }}
            >
              {name}
            </button>
          ))}
        </div>
      )}
      <MessageForm send={begin} placeholder={`Message to ${agent}`} />
      <Suggestions suggestions={firstQuestions} choose={(text) => void report(begin(text))} />
      <button type="button" class="new-session" onClick={() => void report(begin())}>
        New session with {agent}
      </button>
    </section>
  );
}
