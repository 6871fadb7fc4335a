import type { Tool } from "@moora/agent-core-effects";
import type { Decision, OutcomeDecision, Question } from "./agent-event.ts";
import type { JsonOf } from "./json-of.ts";

/**
 * The name of a tool that the type of an agent does not name: a tool of an MCP server, the former name of a tool, `hand_off`, or a
 * name that the model made up. As a value it is that name: `const name: string = call.name` can be compared with any text. It exists
 * only as a type; no tool can have the text of its member.
 */
export declare enum OtherToolName {
  name = "(another tool)",
}

/** A question whose tool is known: `name`, the type of the arguments, and the decisions that a question `about` this takes. */
export interface TypedQuestion<
  Name extends string,
  Parameters,
  About extends Question["about"],
  Choice extends Decision,
> extends Question {
  readonly name: Name;
  readonly parameters: Parameters;
  readonly about: About;
  /** Exists only for types; not set. */
  readonly "~decision"?: Choice;
}

type Rejection = { readonly reject: string };

/** The questions about the calls of one tool. */
type QuestionsAbout<Name extends string, Parameters, Answer> =
  | TypedQuestion<Name, Parameters, "approval", "approve" | Rejection | { readonly approve: Parameters }>
  | TypedQuestion<Name, Parameters, "answer", Rejection | { readonly answer: Answer }>
  | TypedQuestion<Name, Parameters, "outcome", OutcomeDecision>;

type QuestionOfTool<Of extends Tool> = Of extends Tool
  ? string extends Of["name"]
    ? never
    : QuestionsAbout<
        Of["name"],
        JsonOf<NonNullable<Of["~types"]>["arguments"]>,
        JsonOf<NonNullable<Of["~types"]>["answer"]>
      >
  : never;

/** The questions about the calls of these tools. Without their types it is `Question`. */
export type QuestionAbout<Tools extends Tool> = [QuestionOfTool<Tools>] extends [never]
  ? Question
  : QuestionOfTool<Tools> | QuestionsAbout<OtherToolName, unknown, unknown>;

/**
 * The questions of an agent, or of its session: a union by the names of its tools and by what the question is about. Without their types
 * it is `Question`. A question of a sub-agent has the types of the tool of the same name, if there is one.
 */
export type QuestionOf<Type> = Type extends { readonly "~tools"?: infer Tools extends Tool }
  ? QuestionAbout<Tools>
  : Question;

/** The decisions that a question takes: of a typed one those that fit its tool, of any other each `Decision`. */
export type DecisionOn<Asked> = Asked extends { readonly "~decision"?: infer Choice extends Decision }
  ? Choice
  : Decision;
