import { h, type ComponentChild } from "preact";
import type { Source } from "@svc/contracts";
import { errorText } from "../locales/create-texts.ts";
import type { Texts } from "../locales/create-texts.ts";
import type { Entry, FileView } from "../state.ts";
import type { PanelContext } from "./panel-context.ts";
import { parseMarkdown } from "./parse-markdown.ts";
import type { MarkdownNode } from "./parse-markdown.ts";

/** Outlines in a box of 24 by 24. */
const PATHS = {
  back: "M15 5l-7 7 7 7",
  chats: "M5 7h14M5 12h14M5 17h9",
  close: "M6 6l12 12M18 6L6 18",
  send: "M5 12h14M12 5l7 7-7 7",
  attach: "M20 11l-9 9a5 5 0 0 1-7-7l9-9a3 3 0 0 1 5 5l-9 8a1 1 0 0 1-2-2l7-7",
  soundOff: "M5 10v4h3l4 4V6l-4 4zM16 9q3 3 0 6",
  soundOn: "M5 10v4h3l4 4V6l-4 4zM4 3l17 18",
} as const;

/** An icon in the color of the surrounding text. It is hidden from screen readers: its button has a name. */
const Icon = ({ name }: { name: keyof typeof PATHS }) => (
  <svg viewBox="0 0 24 24" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
);

/** A button that shows an icon. Its name is shown as a tooltip. */
export const IconButton = ({
  icon,
  name,
  isOff = false,
  onPress,
}: {
  icon: keyof typeof PATHS;
  name: string;
  isOff?: boolean;
  onPress: (event: { currentTarget: HTMLElement }) => void;
}) => (
  <button type="button" class="icon" data-part={icon} title={name} aria-disabled={isOff} onClick={onPress}>
    <Icon name={icon} />
  </button>
);

/** A link to another site, which gets neither a referrer nor access to this page. */
const viewLink = (href: string, children: ComponentChild, texts: Texts) => (
  <a href={href} target="_blank" rel="noopener noreferrer nofollow">
    {children}
    <span class="sr"> ({texts.text("opensNewTab")})</span>
  </a>
);

/** Renders Markdown. Elements that can be wider than the panel scroll by themselves, also with the keyboard. */
const viewMarkdown = (nodes: readonly MarkdownNode[], texts: Texts): ComponentChild[] =>
  nodes.map((node) => {
    if (typeof node === "string") return node;
    const { tag, href, start } = node;
    const children = viewMarkdown(node.children, texts);
    if (href !== undefined) return viewLink(href, children, texts);
    const isWide = tag === "table" || tag === "pre";
    const view = h(tag, { start }, children);
    return isWide ? (
      <div class="wide" tabIndex={0}>
        {view}
      </div>
    ) : (
      view
    );
  });

/** Renders a file, once the part that shows files is loaded. */
function viewFile(file: FileView, entry: Entry, context: PanelContext) {
  const { files } = context.parts;
  return files === undefined ? context.need("files") : files.viewFile(file, entry, context);
}

/** Renders the sources of an answer. Only web pages become links. */
const viewSources = (sources: Source[], texts: Texts) => (
  <small data-part="sources">
    {texts.text("sources")}
    <ol>
      {sources.map(({ title, url, quote, excerpt = quote }) => (
        <li>
          {/^https?:/i.test(url ?? "") ? viewLink(url ?? "", <bdi>{title}</bdi>, texts) : <bdi>{title}</bdi>}
          {excerpt !== "" && (
            <q tabIndex={0} dir="auto">
              {excerpt}
            </q>
          )}
        </li>
      ))}
    </ol>
  </small>
);

/** Renders a text, as Markdown or literally, with its sources. */
export const viewWords = (text: string, isMarkdown: boolean, texts: Texts, sources: Source[] = []) => (
  <div class="bubble">
    <div class="words" data-part="text" dir="auto">
      {isMarkdown ? viewMarkdown(parseMarkdown(text), texts) : text}
    </div>
    {sources.length > 0 && viewSources(sources, texts)}
  </div>
);

/** Returns the name of the string for the author of a message. */
export const authorOf = (entry: Entry) => (entry.kind === "visitor" ? "you" : entry.author);

function viewMessage(entry: Entry, context: PanelContext) {
  const { texts, actions } = context;
  if (entry.kind === "reply") {
    const { item } = entry;
    return item.type === "file"
      ? viewFile(item.file, entry, context)
      : viewWords(item.text, item.markdown, texts, item.sources);
  }
  const { key, state } = entry;
  return [
    entry.text !== "" && viewWords(entry.text, false, texts),
    entry.files.map((file) => viewFile(file, entry, context)),
    state === "failed" ? (
      <div class="fault">
        {texts.text("failed")}: {errorText(texts, entry.fault ?? "faultOther")}
        <br />
        <button type="button" onClick={() => actions.retry(key)}>
          {texts.text("retry")}
        </button>
        <button type="button" onClick={() => actions.discard(key)}>
          {texts.text("discard")}
        </button>
      </div>
    ) : (
      <small class={state}>{texts.text(state)}</small>
    ),
  ];
}

/** Returns the author's name: the public name of an operator or an agent, otherwise the kind of author. */
export const nameOf = (entry: Entry, texts: Texts) =>
  (entry.kind === "reply" && entry.name) || texts.text(authorOf(entry));

const hide = ({ currentTarget }: { currentTarget: HTMLElement }) => currentTarget.remove();

/** Renders an image of the page's own site; nothing if it cannot be loaded. */
export const viewImage = (path: string) => path !== "" && <img src={location.origin + path} alt="" onError={hide} />;

/** Renders the picture of an operator or an agent, before the initials. */
const viewFace = (entry: Entry, name: string) =>
  entry.kind === "reply" &&
  entry.author !== "system" && (
    <span class="face" aria-hidden="true">
      {name.split(/\s+/, 2).map((word) => Array.from(word)[0])}
      {viewImage(entry.picture ?? "")}
    </span>
  );

/** Author and time of a message, its content, and its delivery state. */
export const EntryBody = ({ entry, context }: { entry: Entry; context: PanelContext }) => (
  <>
    <small>
      {viewFace(entry, nameOf(entry, context.texts))}
      <bdi>{nameOf(entry, context.texts)}</bdi> · {context.texts.time(entry.at)}
    </small>
    {viewMessage(entry, context)}
  </>
);
