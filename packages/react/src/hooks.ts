import type { Agent, JsonOf, QuestionOf, Receipt, SessionView } from "@moora/agent";
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
import type { ToolCallOf } from "./tool-types.ts";

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

/** The type of the data of an agent, or of a session. */
export type DataOf<Type> =
  Type extends Pick<ChatSession<infer Data>, "update">
    ? Data
    : Type extends Pick<Agent<never, infer Data>, "~data">
      ? Data
      : unknown;

/** The type of the answers of an agent, as JSON. */
export type AnswerOf<Type> = Type extends { answerOf(text: string): Promise<infer Answer> }
  ? JsonOf<Answer>
  : unknown;

/** A `ChatSession` whatever its data. */
type GivenSession = AnyChatSession & { readonly update: (recipe: never) => Promise<Receipt> };

/** What a session of an agent shows, with the types of the agent, or those that the type of the session has. */
type ChatOf<Type> = Chat<DataOf<Type>, ToolCallOf<Type>, AnswerOf<Type>, QuestionOf<Type>>;

/**
 * What a session shows: messages, status, questions, data, and the methods that post. A component is rendered again when one of these
 * changes, and not while a message is streamed; `useMessage` adds the streamed parts. Without a session it uses that of
 * `AgentProvider`; `useAgent<typeof agent>()` has the types of its data, its tool calls, its questions and its answers. Throws without
 * either.
 */
export function useAgent<Type>(): ChatOf<Type>;
/** The same for a session that is given, with the types that the session has. */
export function useAgent<Given extends GivenSession>(session: Given): ChatOf<Given>;
/** The same with the types of its agent: `useAgent<typeof agent>(session)`. */
export function useAgent<Type>(session: GivenSession): ChatOf<Type>;
/** All forms of the hook. */
export function useAgent(session?: AnyChatSession): Chat {
  const store = storeOf(useSession<unknown>(session));
  return useSyncExternalStore(store.subscribe, store.chat, store.chat);
}

/**
 * A message with the text, the reasoning, the drafts of tool calls and the progress of tools that are being streamed; undefined for an
 * unknown id. A component is rendered again when this message changes. `useMessage<typeof agent>(id)` has the types of its tool calls.
 */
export function useMessage<Given extends AnyChatSession>(
  id: string,
  session: Given,
): ChatMessage<ToolCallOf<Given>> | undefined;
/** The same with the types of the agent, for a session that is given or that of `AgentProvider`. */
export function useMessage<Type>(
  id: string,
  session?: AnyChatSession,
): ChatMessage<ToolCallOf<Type>> | undefined;
/** All forms of the hook. */
export function useMessage(id: string, session?: AnyChatSession): ChatMessage | undefined {
  const store = storeOf(useSession(session));
  const message = () => store.message(id);
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
