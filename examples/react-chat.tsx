/** A page with a chat of a server, made of the components of `@moora/react`. */
import { connectSession, type RemoteSession } from "@moora/client";
import { AgentChat } from "@moora/react/components";
// A style sheet exports nothing.
// oxlint-disable-next-line import/no-unassigned-import
import "@moora/react/components.css";
import { useState, type JSX } from "react";

/** `connect` opens the session when the user begins, such as `() => connectSession({ url: "/", agent: "helper" })`. */
export function App({
  connect = newSession,
}: {
  readonly connect?: () => Promise<RemoteSession>;
}): JSX.Element {
  const [session, setSession] = useState<RemoteSession>();
  const [problem, setProblem] = useState("");
  if (session !== undefined)
    return <AgentChat session={session} suggestions={["What can you do?", "What is 2 + 2?"]} />;
  const begin = (): void => void connect().then(setSession, (error: Error) => setProblem(error.message));
  return (
    <>
      <button onClick={begin}>New chat</button>
      <p role="alert">{problem}</p>
    </>
  );
}

const newSession = (): Promise<RemoteSession> => connectSession({ url: "/", agent: "helper" });
