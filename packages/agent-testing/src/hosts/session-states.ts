import type { AgentState, Session } from "@moora/agent";

/** The state of a session, without the text that is being streamed. */
function stateOf(session: Session): AgentState {
  const { streaming: _, ...state } = session.current();
  return state;
}

/** Resolves with the state of a session as soon as it is as `isReached` says. */
export function waitForState(
  session: Session,
  isReached: (state: AgentState) => boolean,
): Promise<AgentState> {
  return new Promise((resolve) => {
    const check = (): boolean => {
      const state = stateOf(session);
      if (!isReached(state)) return false;
      resolve(state);
      return true;
    };
    if (check()) return;
    const unsubscribe = session.subscribe(() => {
      if (check()) unsubscribe();
    });
  });
}

/** Calls the listener with the text that the model streams. Returns a function that unsubscribes. */
export const onText = (session: Session, listener: (text: string) => void): (() => void) =>
  session.onEvent((event) => {
    if (event.type === "LlmToken") listener(event.text);
  });
