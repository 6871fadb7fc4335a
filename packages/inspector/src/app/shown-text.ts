import { escapeHiddenCharacters } from "@moora/agent";
import { Fragment, options, type VNode } from "preact";

/** Attributes whose text is shown or read out. */
const shownAttributes: readonly string[] = ["title", "aria-label", "placeholder", "label"];

/**
 * Makes the page show hidden characters as escapes in every text that it renders, wherever that is from: a call must not look like another
 * one that a person would approve. What a user types stays as it is.
 */
export function escapeAllTexts(): void {
  const before = options.vnode;
  options.vnode = (vnode) => {
    if (typeof vnode.type === "string" || vnode.type === Fragment) escapeTexts(vnode);
    before?.(vnode);
  };
}

function escapeTexts({ props }: VNode): void {
  // The properties of a new element are not used yet. They belong to it alone.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const given = props as Record<string, unknown>;
  if (!Object.hasOwn(given, "children") && shownAttributes.every((name) => !Object.hasOwn(given, name)))
    return;
  given["children"] = escaped(given["children"]);
  for (const name of shownAttributes)
    if (typeof given[name] === "string") given[name] = escapeHiddenCharacters(given[name]);
}

const escaped = (children: unknown): unknown => {
  if (typeof children === "string") return escapeHiddenCharacters(children);
  return Array.isArray(children) ? children.map(escaped) : children;
};
