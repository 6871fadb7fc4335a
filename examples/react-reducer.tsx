// The pure reducer in React's own useReducer: no runner and no store. An effect hook executes the effects.
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

type Props = { readonly agent: Agent; readonly question: string };

export function Answer({ agent, question }: Props): JSX.Element {
  const [state, dispatch] = useReducer(
    (before: ReturnType<typeof initialStateOf>, input: AgentInput) => agentTransition(input)(before),
    agent,
    initialStateOf,
  );
  const [effect] = Object.values(effectsAt(state));

  useEffect(() => dispatch(userMessage(question, { messageId: question })), [question]);
  useEffect(() => {
    let wanted = true;
    void (async () => {
      if (effect === undefined) return;
      for await (const input of performWith(agent)(effect, state)) if (wanted) dispatch(input);
    })();
    return () => void (wanted = false);
    // The key is the identity of an effect: equal keys mean equal effects.
  }, [effect?.key]);

  const { control } = state.reActContext;
  return <p>{control.type === "Done" ? control.answer : `${control.type} …`}</p>;
}
