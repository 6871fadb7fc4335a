// The pure reducer in React's own useReducer: no runner, no store. Effects are done where effects belong.
import {
  agentTransition,
  effectsAt,
  initialStateOf,
  performWith,
  userMessage,
  type Agent,
  type AgentInput,
} from "@moora/agent";
import { useEffect, useReducer, type JSX } from "react";

type Given = { readonly agent: Agent; readonly question: string };

export function Answer({ agent, question }: Given): JSX.Element {
  const [state, tell] = useReducer(
    (before: ReturnType<typeof initialStateOf>, input: AgentInput) => agentTransition(input)(before),
    agent,
    initialStateOf,
  );
  const [effect] = Object.values(effectsAt(state));

  useEffect(() => tell(userMessage(question, { messageId: question })), [question]);
  useEffect(() => {
    let wanted = true;
    void (async () => {
      if (effect === undefined) return;
      for await (const input of performWith(agent)(effect, state)) if (wanted) tell(input);
    })();
    return () => void (wanted = false);
    // The key is the identity of an effect: equal keys mean equal effects.
  }, [effect?.key]);

  const { control } = state.reActContext;
  return <p>{control.type === "Done" ? control.answer : `${control.type} …`}</p>;
}
