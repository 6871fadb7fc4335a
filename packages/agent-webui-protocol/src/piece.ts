/**
 * A piece of what a model is writing, in the one form that it has from the effect of the call to the pages that show it. It is not
 * stored. `messageId` names the attempt of the model call.
 *
 * `part` numbers the parts of one attempt, from 0 in the order in which they start; a caller that does not number its parts leaves
 * it out, and then no part has an end. What the model writes of a call is a draft: the call exists only when the attempt has
 * succeeded, and then has the `toolCallId` of its draft.
 */
export type Piece =
  /**
   * A piece of text. The first one with a `part` starts that part of the answer. It begins at `offset` of all text of the attempt;
   * `LlmReasoning` likewise of all its reasoning.
   */
  | ({ readonly type: "LlmToken" } & TextPiece)
  | ({ readonly type: "LlmReasoning" } & TextPiece)
  /** The model begins to write a call. A call of a tool that extends the context of the model has no `toolCallId`. */
  | {
      readonly type: "LlmToolCall";
      readonly messageId: string;
      readonly toolCallId?: string;
      readonly name: string;
    }
  /** A piece of the JSON text of the arguments of a call that the model is writing. It begins at `offset` of that text. */
  | {
      readonly type: "LlmToolCallDelta";
      readonly messageId: string;
      readonly toolCallId: string;
      readonly text: string;
      readonly offset: number;
    }
  /** A part of the answer is complete, or its stream was cut. `toolCallId`: it is this call. */
  | {
      readonly type: "LlmPartEnded";
      readonly messageId: string;
      readonly part: number;
      readonly toolCallId?: string;
    };

/** A piece of a text or of reasoning. */
export interface TextPiece {
  readonly messageId: string;
  readonly part?: number;
  readonly text: string;
  readonly offset: number;
}

/** What a running effect streams to viewers. */
export type Progress =
  | Piece
  /** The provider leaves something out, or calls of a turn were not run because of `toolCalls.maxPerTurn`. */
  | { readonly type: "LlmWarning"; readonly text: string }
  | { readonly type: "ToolCallProgress"; readonly toolCallId: string; readonly text: string };
