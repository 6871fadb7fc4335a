import type { Agent, SessionView } from "@moora/agent";
import {
  createContext,
  createElement,
  use,
  useRef,
  useSyncExternalStore,
  type ReactElement,
  type ReactNode,
} from "react";
import type { AnyChatSession, Chat, ChatMessage, ChatSession } from "./chat.ts";
import { storeOf } from "./chat-store.ts";
import type { JsonOf, ToolCallOf } from "./tool-types.ts";

const SessionContext = createContext<AnyChatSession | undefined>(undefined);

/** Gives the components in it the session that hooks without one show. */
export function AgentProvider<Data>({
  session,
  children,
}: {
  readonly session: ChatSession<Data>;
  readonly children?: ReactNode;
}): ReactElement {
  return createElement(SessionContext, { value: session }, children);
}

/** The session of a hook. Throws without one. */
function useSession<Data>(given: AnyChatSession | undefined): ChatSession<Data> {
  const provided = use(SessionContext);
  const session = given ?? provided;
  if (session === undefined) {
    throw new Error(
      "This hook has no session. Pass one, or put the component into <AgentProvider session={...}>.",
    );
  }
  // The provider was given a `ChatSession`; hooks name the type of its data again.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return session as ChatSession<Data>;
}

/** The type of the data of an agent. */
export type DataOf<Type> = Type extends Pick<Agent<never, infer Data>, "~data"> ? Data : unknown;

/** The type of the answers of an agent, as JSON. */
export type AnswerOf<Type> = Type extends { answerOf(text: string): Promise<infer Answer> }
  ? JsonOf<Answer>
  : unknown;

/**
 * What a session shows: messages, status, questions, data, and the methods that post. A component is rendered again when one of these
 * changes, and not while a message is streamed; `useMessage` adds the streamed parts. Without a session it uses that of
 * `AgentProvider`; `useAgent<typeof agent>()` has the types of its data, its tool calls and its answers. Throws without either.
 */
export function useAgent<Type>(): Chat<DataOf<Type>, ToolCallOf<Type>, AnswerOf<Type>>;
/** The same for a session that is given. */
export function useAgent<Data>(session: ChatSession<Data>): Chat<Data>;
/** Both forms of the hook. */
export function useAgent<Data>(session?: ChatSession<Data>): Chat<Data> {
  const store = storeOf(useSession<Data>(session));
  return useSyncExternalStore(store.subscribe, store.chat, store.chat);
}

/**
 * A message with the text, the reasoning, the drafts of tool calls and the progress of tools that are being streamed; undefined for an
 * unknown id. A component is rendered again when this message changes. `useMessage<typeof agent>(id)` has the types of its tool calls.
 */
export function useMessage<Type>(
  id: string,
  session?: AnyChatSession,
): ChatMessage<ToolCallOf<Type>> | undefined {
  const store = storeOf(useSession(session));
  // The agent determines the types of the calls.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const message = () => store.message(id) as ChatMessage<ToolCallOf<Type>> | undefined;
  return useSyncExternalStore(store.subscribe, message, message);
}

/**
 * A value of the state of a session. A component is rendered again when the value changes by `isEqual` (default: `Object.is`).
 */
export function useAgentValue<Value, Data = unknown>(
  select: (view: SessionView<Data>) => Value,
  session?: ChatSession<Data>,
  isEqual: (a: Value, b: Value) => boolean = Object.is,
): Value {
  const source = useSession<Data>(session);
  const last = useRef<{ readonly view: unknown; readonly select: unknown; readonly value: Value }>(null);
  const value = (): Value => {
    const view = source.current();
    const { current: known } = last;
    if (known !== null && known.view === view && known.select === select) return known.value;
    const selected = select(view);
    const kept = known !== null && isEqual(known.value, selected) ? known.value : selected;
    last.current = { view, select, value: kept };
    return kept;
  };
  return useSyncExternalStore(source.subscribe, value, value);
}
