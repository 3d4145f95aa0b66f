import type { Source } from "@svc/contracts";
import type { Texts } from "../locales/create-texts.ts";
import { LIMITS } from "../limits.ts";
import type { Entry, FileView } from "../state.ts";
import { Icon } from "./icon-button.tsx";
import { viewLink, viewMarkdown } from "./markdown-view.tsx";
import type { PanelContext } from "./panel-context.ts";
import { parseMarkdown } from "./parse-markdown.ts";

/** Invisible characters that turn the direction of what follows, with which the name of a file could lie. */
const DIRECTION_MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** The text of a fault, with the bounds that it may name. */
export const faultText = (texts: Texts, name: string) =>
  texts.text(name, { size: texts.size(LIMITS.fileMaxBytes), count: LIMITS.attachmentsMaxCount });

/** A file's name, which is foreign and can neither turn nor cover what stands around it, and its size. */
export const viewFileName = (file: FileView, texts: Texts) => (
  <span class="name">
    <bdi>{file.filename.replace(DIRECTION_MARKS, "")}</bdi>{" "}
    <small>{file.expired ? texts.text("faultFileGone") : texts.size(file.sizeBytes)}</small>
  </span>
);

/** A file to download. While it comes, its button shows how much of it is there. */
const viewFile = (file: FileView, entry: Entry, { texts, ui, download }: PanelContext) => {
  const coming = ui.coming.get(file.fileId ?? "");
  return (
    <button
      type="button"
      class="bubble file"
      data-part="file"
      aria-disabled={file.fileId === null || file.expired === true}
      title={file.expired ? undefined : texts.text("download", { name: file.filename })}
      onClick={() => !file.expired && download(file, entry)}
    >
      <Icon name="file" />
      {viewFileName(file, texts)}
      {coming !== undefined && <progress value={coming} aria-label={texts.percent(coming)} />}
    </button>
  );
};

/** Where an answer has its statements from. Only web pages become links. */
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

/** A text with what belongs to it: Markdown, or as it is. */
export const viewWords = (text: string, isMarkdown: boolean, texts: Texts, sources: Source[] = []) => (
  <div class="bubble">
    <div class="words" data-part="text" dir="auto">
      {isMarkdown ? viewMarkdown(parseMarkdown(text), texts) : text}
    </div>
    {sources.length > 0 && viewSources(sources, texts)}
  </div>
);

/** The name of the string that says who wrote a message. */
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
        {texts.text("failed")}: {faultText(texts, entry.fault ?? "faultOther")}
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

/** Who wrote a message and when, what it says, and what became of it. */
export const EntryBody = ({ entry, context }: { entry: Entry; context: PanelContext }) => (
  <>
    <small>
      {context.texts.text(authorOf(entry))} · {context.texts.time(entry.at)}
    </small>
    {viewMessage(entry, context)}
  </>
);
