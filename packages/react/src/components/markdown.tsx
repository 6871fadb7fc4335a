import type { MarkedToken, Token, Tokens } from "marked";
import { createElement, memo, type JSX, type ReactNode } from "react";
import { tokensOf } from "./markdown-tokens.ts";

/** The properties of `Markdown`. */
export interface MarkdownProps {
  readonly text: string;
  /** Whether links can be followed. Without it their addresses are text. Default: true. */
  readonly links?: boolean;
}

/**
 * A text of a model with the formatting of Markdown (GFM), as elements: HTML in it is text, links lead only to `http`, `https` and `mailto`,
 * and pictures are links, so that a text loads nothing. A text that is very long, deeply nested or costly to read is shown as it is.
 */
export const Markdown: (props: MarkdownProps) => ReactNode = memo(function Markdown({
  text,
  links = true,
}: MarkdownProps): JSX.Element {
  const tokens = tokensOf(text);
  if (tokens === undefined) return <p className="moora-text">{text}</p>;
  return <div className="moora-markdown">{elementsOf(tokens, links)}</div>;
});

const elementsOf = (tokens: readonly Token[] = [], links: boolean): readonly ReactNode[] =>
  tokens.map((token, index) => {
    // Without extensions there are no other tokens.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return createElement(Element, { key: index, token: token as MarkedToken, links });
  });

interface ElementProps {
  readonly token: MarkedToken;
  readonly links: boolean;
}

function Element({ token, links }: ElementProps): ReactNode {
  const inner = (tokens: readonly Token[] | undefined): readonly ReactNode[] => elementsOf(tokens, links);
  switch (token.type) {
    case "paragraph":
      return <p>{inner(token.tokens)}</p>;
    case "text":
      return <>{token.tokens === undefined ? decoded(token.text) : inner(token.tokens)}</>;
    case "strong":
    case "em":
    case "del":
    case "blockquote":
      return createElement(token.type, null, inner(token.tokens));
    case "heading":
      return createElement(`h${Math.min(6, token.depth + 2)}`, null, inner(token.tokens));
    case "list":
      return <List token={token} links={links} />;
    case "list_item":
      return <li>{inner(token.tokens)}</li>;
    case "checkbox":
      return token.checked ? "☑ " : "☐ ";
    case "table":
      return <Table token={token} links={links} />;
    case "code":
      return (
        <pre tabIndex={0}>
          <code>{token.text}</code>
        </pre>
      );
    case "codespan":
      return <code>{token.text}</code>;
    case "link":
    case "image":
      return <Link token={token} links={links} />;
    case "br":
    case "hr":
      return createElement(token.type);
    case "space":
    case "def":
      return null;
    case "escape":
    case "html":
      return <>{token.text}</>;
  }
}

const List = ({ token, links }: { readonly token: Tokens.List; readonly links: boolean }): JSX.Element =>
  token.ordered ? (
    <ol start={token.start === "" ? 1 : token.start}>{elementsOf(token.items, links)}</ol>
  ) : (
    <ul>{elementsOf(token.items, links)}</ul>
  );

const Table = ({ token, links }: { readonly token: Tokens.Table; readonly links: boolean }): JSX.Element => (
  <div className="moora-table" tabIndex={0}>
    <table>
      <thead>
        <tr>
          {token.header.map((cell, index) => (
            <th key={index}>{elementsOf(cell.tokens, links)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {token.rows.map((row, index) => (
          <tr key={index}>
            {row.map((cell, column) => (
              <td key={column}>{elementsOf(cell.tokens, links)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

function Link({
  token: { href, text, tokens, type },
  links,
}: {
  readonly token: Tokens.Link | Tokens.Image;
  readonly links: boolean;
}): ReactNode {
  const content = type === "image" ? text || href : elementsOf(tokens, links);
  if (links && /^(https?:|mailto:)/i.test(href)) {
    return (
      <a href={href} target="_blank" rel="noreferrer noopener">
        {content}
      </a>
    );
  }
  return <>{href === text ? text : [content, ` (${href})`]}</>;
}

/** A text with characters in place of the commonest entities. */
const decoded = (text: string): string =>
  text.replaceAll(/&(amp|lt|gt|quot|nbsp|#39);/g, (entity, name: string) => entities[name] ?? entity);

const entities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  nbsp: "\u00a0",
  "#39": "'",
};
