// The pure reducer in React's own state: no runner and no session. An effect hook executes the effects.
import {
  applyInputs,
  effectsAt,
  initialStateOf,
  performEffect,
  userMessage,
  type Agent,
  type DispatchBatch,
} from "@moora/agent";
import { useEffect, useRef, useState, type JSX } from "react";

type Props = { readonly agent: Agent; readonly question: string };

export function Answer({ agent, question }: Props): JSX.Element {
  const [state, setState] = useState(() => initialStateOf(agent));
  const [sessionId] = useState(() => crypto.randomUUID());
  const newest = useRef(state);
  const [effect] = Object.values(effectsAt(state));

  /** Applies inputs, and returns whether they applied: an effect runs only if its intent did. */
  const dispatch: DispatchBatch = (...inputs) => {
    const { state: next, applied } = applyInputs(newest.current, inputs);
    newest.current = next;
    setState(next);
    return applied > 0;
  };

  useEffect(() => void dispatch(userMessage(question, { messageId: question })), [question]);
  useEffect(() => {
    if (effect !== undefined) void performEffect(agent, effect, state, { dispatch, sessionId });
    // The key is the identity of an effect: equal keys mean equal effects.
  }, [effect?.key]);

  const { control } = state.reActContext;
  return <p>{control.type === "Done" ? control.answer : `${control.type} …`}</p>;
}
