import {
  MessageForm as ReactMessageForm,
  MessageView as ReactMessageView,
  PauseText as ReactPauseText,
  QuestionList as ReactQuestionList,
  Suggestions as ReactSuggestions,
} from "@moora/react/components";
import type { ComponentChildren, VNode } from "preact";

/** The properties of a component with the elements of Preact. */
type WithElements<Props> = {
  readonly [Name in keyof Props]: Name extends "children"
    ? ComponentChildren
    : Props[Name] extends ((...args: infer Args) => unknown) | undefined
      ? Name extends "callFooter"
        ? (...args: Args) => ComponentChildren
        : Props[Name]
      : Props[Name];
};

/**
 * A component of `@moora/react/components` for Preact: the bundle gives its modules Preact in place of React, so that it makes elements of
 * Preact. Only the types of the two differ.
 */
const forPreact = <Props>(component: (props: Props) => unknown) =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  component as unknown as (props: WithElements<Props>) => VNode;

export const MessageForm = forPreact(ReactMessageForm);
export const MessageView = forPreact(ReactMessageView);
export const PauseText = forPreact(ReactPauseText);
export const QuestionList = forPreact(ReactQuestionList);
export const Suggestions = forPreact(ReactSuggestions);
