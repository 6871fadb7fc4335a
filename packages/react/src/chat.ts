import type {
  AgentAttachment,
  AgentEvent,
  AgentFailure,
  AgentMessage,
  DecisionOn,
  Question,
  Receipt,
  Recipe,
  QuestionAbout,
  Session,
  SessionView,
  Tool,
  ToolCallRecord,
  ToolCallResult,
} from "@moora/agent";

/** The connection of a session to its server; `connection()` of `@moora/client` returns one. */
export interface ChatConnection {
  readonly status: "connecting" | "connected" | "waiting" | "closed";
  /** The posts whose records the session does not contain. */
  readonly pending: readonly ChatPost[];
}

/** A post: `content` is the text of a message. `isConfirmed`: the server has made it durable. */
export interface ChatPost {
  readonly key: string;
  readonly kind: string;
  readonly content?: string;
  readonly isConfirmed: boolean;
}

/** A session whatever its data: every `ChatSession` is one. */
export interface AnyChatSession extends Pick<Session, "id" | "draft" | "seq" | "subscribe" | "questions"> {
  readonly current: () => SessionView;
  readonly onEvent: (listener: (event: AgentEvent<unknown>) => void) => () => void;
  readonly send: Session["send"];
  readonly decide: <Asked extends Parameters<Session["decide"]>[0]>(
    question: Asked,
    decision: DecisionOn<Asked>,
  ) => Promise<Receipt>;
  readonly cancel: (reason?: string) => Promise<Receipt>;
  readonly retry: () => Promise<Receipt>;
  readonly pause: (reason?: string) => Promise<Receipt>;
  readonly resume: () => Promise<Receipt>;
  /** Only remote sessions have it: the URL at which a page reads a file. */
  readonly fileUrl?: (file: Pick<AgentAttachment, "url">) => string;
  /** Only remote sessions have a connection. */
  readonly connection?: () => ChatConnection;
}

/**
 * A session that hooks show: local ones, and those of `@moora/client`. `Data` is the type of its application data, `Tools` the union of
 * the types of its tools, `Asked` that of its questions.
 */
export interface ChatSession<
  Data = unknown,
  Tools extends Tool = Tool,
  Asked extends Question = QuestionAbout<Tools>,
> extends AnyChatSession {
  /** Exists only for types; not set. */
  readonly "~tools"?: Tools;
  readonly questions: () => readonly Asked[];
  readonly current: () => SessionView<Data>;
  readonly update: (recipe: Recipe<Data>) => Promise<Receipt>;
}

/**
 * The status of a tool call. `drafting`: the model is writing its arguments. `queued`: it waits for its turn. `running`: the tool
 * runs, or runs when a paused session is resumed. `retrying`: an attempt has failed, and the next one is due later. `checking`: after
 * an interruption, a `probe` finds out its outcome. `asking`: a person is asked. `done`: it has a result. `rejected`: a person or a
 * policy has rejected it, so that it did not run. `failed`: it has failed.
 */
export type ToolCallStatus =
  | "drafting"
  | "queued"
  | "running"
  | "retrying"
  | "checking"
  | "asking"
  | "done"
  | "rejected"
  | "failed";

/** A tool call of a message. `ToolCallOf<typeof agent>` has the types of the tools of an agent. */
export interface ToolCallPart<Name extends string = string, Input = unknown, Output = unknown> {
  readonly type: "tool-call";
  readonly toolCallId: string;
  readonly name: Name;
  readonly status: ToolCallStatus;
  /** The JSON text of the arguments; while the model is writing, its beginning. */
  readonly parameters: string;
  /** The arguments as JSON; undefined while the model is writing them, and where the tool has not accepted them. */
  readonly input: Input | undefined;
  /** Null while the call is open. */
  readonly result: ToolCallResult | null;
  /** What the tool has returned, as JSON; undefined without a result, and where that is text or a reviewer gave it. */
  readonly output: Output | undefined;
  /** What a person or a policy has decided about it, and who; absent without a decision. */
  readonly decision?: ToolCallRecord["decision"];
  /** The arguments that the model asked for, where a person has approved others. */
  readonly original?: string;
  /** What the tool has reported last; absent if it has not reported. */
  readonly progress?: string;
}

/** A part of a message, in the order of the model. */
export type ChatPart<Call extends ToolCallPart = ToolCallPart> =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  /** A file that the model made, or that a user has attached. */
  | { readonly type: "file"; readonly file: AgentAttachment }
  | Call;

/** A message with its parts. The same object until one of them changes; a part that does not change is the same object. */
export interface ChatMessage<Call extends ToolCallPart = ToolCallPart> {
  readonly id: string;
  readonly role: AgentMessage["role"];
  readonly parts: readonly ChatPart<Call>[];
  /** Whether the model is writing it. */
  readonly streaming: boolean;
  /** `cut`: it ended early. `dropped`: it was not accepted. `withheld`: the model does not get it. Absent for a complete one. */
  readonly status?: AgentMessage["status"];
  /** The schedule that has sent it; absent for a message of a person. */
  readonly scheduled?: AgentMessage["scheduled"];
  readonly attachments?: readonly AgentAttachment[];
}

/**
 * The status of a session. `idle`: no loop runs, and the newest one has its answer. `running`: a loop runs. `waiting`: a loop waits,
 * and only a person can continue it. `paused`: the session is paused. `failed`: the newest loop ended with `failure`.
 */
export type ChatStatus = "idle" | "running" | "waiting" | "paused" | "failed";

/** What a session shows, without what is being streamed: the same object while a model or a tool streams. */
export interface Chat<
  Data = unknown,
  Call extends ToolCallPart = ToolCallPart,
  Answer = unknown,
  Asked extends Question = Question,
> extends Pick<ChatSession<Data>, "send" | "decide" | "update" | "cancel" | "retry" | "pause" | "resume"> {
  readonly session: ChatSession<Data>;
  /** Without the text that is being streamed, which `useMessage` adds. */
  readonly messages: readonly ChatMessage<Call>[];
  readonly status: ChatStatus;
  readonly failure?: AgentFailure;
  /**
   * The answer with which the newest loop has ended: its text, or its JSON if the agent has a schema for answers. Undefined while the
   * loop runs, and after a failed one.
   */
  readonly answer: Answer | undefined;
  /** The open questions, with those of sub-agents. */
  readonly questions: readonly Asked[];
  readonly data: SessionView<Data>["data"];
  /** Undefined for a local session. */
  readonly connection: ChatConnection | undefined;
}
