import { lexer } from "marked";
import type { Token, Tokens } from "marked";
import { Fragment, createContext, memo, useContext } from "react";
import type { ReactNode } from "react";
import { useTexts } from "../i18n/texts.ts";
import { splitAddresses } from "./find-text.ts";

/** The only URLs that a link may have; with any other one its text stays text. */
const SAFE_ADDRESS = /^(?:https?:\/\/|mailto:|tel:)/i;
/** A longer text is shown unformatted, because parsing it could block the browser. */
const MARKDOWN_MAX_CHARS = 20_000;
/** Deeper nesting is shown unformatted. */
const DEPTH_MAX = 12;

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
/** The lexer escapes some characters as HTML entities; here they are text. */
const plain = (text: string) =>
  text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (whole, name: string) => ENTITIES[name] ?? whole);

/** A link to another site, which gets neither a referrer nor access to this page. */
export function OutLink({ href, children }: { href: string; children: ReactNode }) {
  const { t } = useTexts();
  if (!SAFE_ADDRESS.test(href)) return <>{children}</>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" referrerPolicy="no-referrer" title={href}>
      {children}
      <span className="sr-only"> ({t("ui.newTab")})</span>
    </a>
  );
}

/** Renders images of the page itself by their URLs; returns null for any other image. Without it, images are links. */
export const OwnImages = createContext<(href: string, alt: string) => ReactNode>(() => null);

function Image({ href, alt }: { href: string; alt: string }) {
  const own = useContext(OwnImages)(href, alt);
  return own ?? <OutLink href={href}>{alt === "" ? href : alt}</OutLink>;
}

type View = (token: Token, depth: number) => ReactNode;

const childrenOf = (token: Token, depth: number): ReactNode => {
  const tokens = "tokens" in token ? (token as Tokens.Generic).tokens : undefined;
  if (tokens === undefined || depth > DEPTH_MAX) return plain("text" in token ? String(token["text"]) : token.raw);
  return viewTokens(tokens, depth + 1);
};

/** Views of the tokens by type. Other tokens, above all HTML, are shown as their source text. */
const VIEWS: Record<string, View> = {
  space: () => null,
  def: (token) => <p>{token.raw.trim()}</p>,
  paragraph: (token, depth) => <p>{childrenOf(token, depth)}</p>,
  heading: (token, depth) => <h3>{childrenOf(token, depth)}</h3>,
  blockquote: (token, depth) => <blockquote>{childrenOf(token, depth)}</blockquote>,
  hr: () => <hr />,
  br: () => <br />,
  strong: (token, depth) => <strong>{childrenOf(token, depth)}</strong>,
  em: (token, depth) => <em>{childrenOf(token, depth)}</em>,
  del: (token, depth) => <del>{childrenOf(token, depth)}</del>,
  codespan: (token) => <code>{plain((token as Tokens.Codespan).text)}</code>,
  code: (token) => (
    <pre tabIndex={0}>
      <code>{(token as Tokens.Code).text}</code>
    </pre>
  ),
  escape: (token) => plain((token as Tokens.Escape).text),
  text: (token, depth) => childrenOf(token, depth),
  link: (token, depth) => <OutLink href={(token as Tokens.Link).href}>{childrenOf(token, depth)}</OutLink>,
  // Loading an image would tell its server who reads the message, and when.
  image: (token) => {
    const { href, text } = token as Tokens.Image;
    return <Image href={href} alt={plain(text)} />;
  },
  list: (token, depth) => {
    const { items, ordered, start } = token as Tokens.List;
    const rows = items.map((item, index) => <li key={index}>{childrenOf(item, depth)}</li>);
    return ordered ? <ol start={start === "" ? 1 : start}>{rows}</ol> : <ul>{rows}</ul>;
  },
  table: (token, depth) => {
    const { header, rows } = token as Tokens.Table;
    const cell = ({ tokens }: Tokens.TableCell) => viewTokens(tokens, depth + 1);
    return (
      <table tabIndex={0}>
        <thead>
          <tr>
            {header.map((head, index) => (
              <th key={index}>{cell(head)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((data, column) => (
                <td key={column}>{cell(data)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    );
  },
};

function viewTokens(tokens: readonly Token[], depth: number): ReactNode {
  return tokens.map((token, index) => (
    <Fragment key={index}>{Object.hasOwn(VIEWS, token.type) ? VIEWS[token.type]?.(token, depth) : token.raw}</Fragment>
  ));
}

/** A text without formatting, with its line breaks; URLs are not links. */
export const PlainText = ({ text }: { text: string }) => (
  <div dir="auto" className="wrap-anywhere whitespace-pre-wrap">
    {text}
  </div>
);

/** A text exactly as it was typed. Its web addresses are links; nothing else in it has a meaning. */
export const TypedText = ({ text }: { text: string }) => (
  <div dir="auto" className="wrap-anywhere whitespace-pre-wrap [&_a]:text-accent [&_a]:underline">
    {splitAddresses(text).map((part, index) =>
      index % 2 === 1 ? (
        <OutLink key={index} href={part}>
          {part}
        </OutLink>
      ) : (
        part
      ),
    )}
  </div>
);

/**
 * An untrusted text in Markdown: HTML is shown as text, images are links, and links can only lead to web pages, email
 * addresses and phone numbers.
 */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  if (text.length > MARKDOWN_MAX_CHARS) return <PlainText text={text} />;
  return (
    <div dir="auto" className="prose">
      {viewTokens(lexer(text, { gfm: true, breaks: true }), 0)}
    </div>
  );
});
