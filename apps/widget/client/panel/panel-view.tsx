import type { VNode } from "preact";
import { errorText } from "../locales/create-texts.ts";
import { LIMITS } from "../state.ts";
import type { Entry } from "../state.ts";
import { authorOf, EntryBody, IconButton, viewImage, viewWords } from "./entry-view.tsx";
import type { PanelContext } from "./panel-context.ts";

/** Messages of one author within this time are grouped. */
const RUN_MS = 5 * 60 * 1000;

/** Returns the view of an entry, from the cache if nothing of it has changed. */
function viewBody(entry: Entry, context: PanelContext): VNode {
  const view = context.shown.get(entry) ?? <EntryBody entry={entry} context={context} />;
  context.shown.set(entry, view);
  return view;
}

/** Renders an entry, after a line for its day or for the first unread message. */
function viewEntry(entry: Entry, before: Entry | undefined, context: PanelContext) {
  const { texts, ui } = context;
  const { key, kind, at } = entry;
  const author = authorOf(entry);
  const isNewDay = before === undefined || new Date(before.at).toDateString() !== new Date(at).toDateString();
  const isFirst = isNewDay || authorOf(before) !== author || at - before.at > RUN_MS;
  return [
    isNewDay && (
      <li key={at} class="divider">
        {texts.day(at)}
      </li>
    ),
    ui.newFrom === key && (
      <li key="new" class="divider new">
        {texts.text("newMessages")}
      </li>
    ),
    <li
      key={key}
      class={isFirst ? kind : `${kind} run`}
      data-part="entry"
      data-kind={kind}
      data-seq={entry.seq}
      data-state={kind === "visitor" ? entry.state : undefined}
      data-author={author}
    >
      {viewBody(entry, context)}
    </li>,
  ];
}

const viewOffer = (name: string, onClick: () => void, part?: string) => (
  <button type="button" data-part={part} onClick={onClick}>
    {name}
  </button>
);

/** Returns the text for a pending answer, or for a person who is typing. */
const typingText = ({ state: { typist: name }, texts }: PanelContext) =>
  texts.text(name === "" ? "typing" : "typingName", { name });

/** The conversation, with the typing indicator. */
function MessageList({ context }: { context: PanelContext }) {
  const { state, texts, ui, actions, change, parts } = context;
  const { entries, config, conversation, partial } = state;
  const { rating, person } = config.features;
  const last = entries.at(-1);
  // Suggestions are not shown while the last message is an operator's, which may be a question.
  const isOffering = conversation === "open" && (last === undefined || authorOf(last) !== "operator");
  const isAsked = conversation === "done" || (ui.ratedAt > 0 && isOffering);
  const isRating = state.rating === null ? isAsked : ui.ratedAt === entries.length;
  return (
    <>
      <ol>
        <li>{viewWords(texts.text("greeting"), false, texts)}</li>
        {entries.flatMap((entry, index) => viewEntry(entry, entries[index - 1], context))}
        {partial !== null && <li data-part="partial">{viewWords(partial, true, texts)}</li>}
      </ol>
      {state.isTyping && (
        <p class="typing" data-part="typing">
          <i aria-hidden="true" /> {typingText(context)}
        </p>
      )}
      {rating &&
        isRating &&
        (parts.forms !== undefined ? <parts.forms.Rating context={context} /> : context.need("forms"))}
      {state.line !== "refused" && !state.needsContact && (
        <p class="offers">
          {entries.length === 0 && texts.questions.map((question) => viewOffer(question, () => actions.send(question)))}
          {rating &&
            isOffering &&
            last?.kind === "reply" &&
            state.rating === null &&
            !isRating &&
            viewOffer(texts.text("rateQuestion"), () =>
              context.need("forms", () => change({ ratedAt: entries.length })),
            )}
          {person &&
            isOffering &&
            viewOffer(
              texts.text("person"),
              () => actions.send(texts.text("personMessage"), [], { wantsPerson: true }),
              "person",
            )}
        </p>
      )}
    </>
  );
}

/** Number of remaining characters from which the visitor sees the count. */
const COUNTED_FROM = 500;

/** Returns how many characters can still be written; negative if there are too many. */
const charactersLeft = (text: string) => LIMITS.textMaxChars - Array.from(text).length;

/** Returns whether there is something to send, and all of it can be sent. */
export const canSend = ({ state, ui }: Pick<PanelContext, "state" | "ui">) =>
  state.line !== "refused" &&
  ui.adding === 0 &&
  charactersLeft(ui.text) >= 0 &&
  ui.files.every(({ view }) => view.progress === null) &&
  (ui.text.trim() !== "" || ui.files.some(({ fault: error }) => error === null));

/** The text field and buttons for writing a message. */
// oxlint-disable-next-line max-lines-per-function -- One element; a function for a part of it exceeds the size budget.
function Composer({ context }: { context: PanelContext }) {
  const { state, texts, ui, actions, change, send } = context;
  const { upload } = state.config.features;
  const left = charactersLeft(ui.text);
  const onKeyDown = (event: KeyboardEvent) => {
    // While an input method composes, Enter confirms a word. Safari reports this only through the key code.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    send();
  };
  return (
    <div class="composer">
      {ui.files.map((file) => context.parts.files?.viewDraft(file, context))}
      <p id="hint" class={ui.fault === null && left >= 0 ? "" : "fault"}>
        {ui.fault !== null
          ? errorText(texts, ui.fault)
          : left <= COUNTED_FROM && texts.text("charactersLeft", { count: left })}
      </p>
      <div class="row field">
        {upload && (
          <>
            <input
              type="file"
              multiple
              hidden
              onChange={({ currentTarget }) => {
                context.addFiles(currentTarget.files ?? []);
                // Allows the same file to be chosen again after it was removed.
                currentTarget.value = "";
              }}
            />
            <IconButton
              icon="attach"
              name={texts.text("attach")}
              onPress={({ currentTarget }) => (currentTarget.previousElementSibling as HTMLElement).click()}
            />
          </>
        )}
        <textarea
          rows={1}
          // An empty field, with its placeholder, has the direction of the panel.
          dir={ui.text === "" ? undefined : "auto"}
          data-part="composer"
          data-focus
          enterkeyhint="send"
          aria-label={texts.text("messageLabel")}
          aria-describedby="hint"
          aria-invalid={left < 0}
          placeholder={texts.text("messagePlaceholder")}
          value={ui.text}
          onInput={({ currentTarget }) => {
            change({ text: currentTarget.value, fault: null });
            actions.noteTyping();
          }}
          onKeyDown={onKeyDown}
          onPaste={(event) => {
            const { files } = event.clipboardData ?? {};
            if (!upload || files === undefined || files.length === 0) return;
            event.preventDefault();
            context.addFiles(files);
          }}
        />
        <IconButton icon="send" name={texts.text("send")} isOff={!canSend(context)} onPress={send} />
      </div>
    </div>
  );
}

/** Returns the name of the string that describes the connection or the conversation; null if there is nothing to say. */
export function noticeOf({ line, refusal, conversation, entries }: PanelContext["state"]): string | null {
  if (line === "refused") return refusal ?? "refusedKey";
  if (line === "offline" || line === "connecting") return line;
  const last = entries.at(-1);
  // The visitor no longer waits for a person who has just replied.
  if (conversation === "waiting" && last !== undefined && authorOf(last) === "operator") return null;
  return { open: null, waiting: "personWaiting", done: "done" }[conversation];
}

const viewHeader = ({ state: { config, hasSound, line }, texts, ui, actions, change }: PanelContext) => {
  const sound = hasSound ? "soundOff" : "soundOn";
  const isListing = ui.listing !== null;
  return (
    <header class="row">
      {line !== "refused" && (
        <IconButton
          icon={isListing ? "back" : "chats"}
          name={texts.text(isListing ? "back" : "chats")}
          onPress={() => change({ listing: isListing ? null : {}, fault: null })}
        />
      )}
      {!isListing && viewImage(config.logo)}
      <h2 id="title" dir="auto">
        {texts.text(isListing ? "chats" : "title")}
      </h2>
      {config.features.sound && (
        <IconButton icon={sound} name={texts.text(sound)} onPress={() => actions.setSound(!hasSound)} />
      )}
      <IconButton icon="close" name={texts.text("closeChat")} onPress={actions.close} />
    </header>
  );
};

/** The composer, or before it the form if the visitor has to fill it in. */
function viewInput(context: PanelContext) {
  const { state, parts } = context;
  if (!state.needsContact) return <Composer context={context} />;
  if (parts.forms !== undefined) return <parts.forms.Contact key={state.turn} context={context} />;
  if (state.isOpen) context.need("forms");
  return null;
}

/** The visitor's conversations, once their part is loaded. */
function viewChats(context: PanelContext) {
  const { chats } = context.parts;
  if (chats !== undefined) return chats.viewChats(context);
  context.need("chats");
  return null;
}

/** Returns when a person replies; empty if a reply says so, as the handoff text does. */
const expectedReplyOf = ({ config: { expectedReply }, entries }: PanelContext["state"]) =>
  entries.some(
    (entry) => entry.kind === "reply" && entry.item.type === "message" && entry.item.text.includes(expectedReply),
  )
    ? ""
    : expectedReply;

/** The open panel, and the live region that remains when it is closed. */
export function PanelView({ context, isModal }: { context: PanelContext; isModal: boolean }) {
  const { state, texts, ui, change } = context;
  const { line, needsContact, config } = state;
  const isRefused = line === "refused";
  const canUpload = config.features.upload && !needsContact && !isRefused;
  // The list shows other conversations too: the state of one does not apply to it.
  const shown = ui.listing === null ? state : { ...state, conversation: "open" as const };
  const notice = ui.isDragging ? "dropFiles" : noticeOf(shown);
  const drag = (event: DragEvent) => {
    const { dataTransfer, type } = event;
    if (dataTransfer?.types.includes("Files") !== true) return;
    // Otherwise the browser would navigate to the file.
    event.preventDefault();
    const isDragging = canUpload && type === "dragover";
    if (isDragging !== ui.isDragging) change({ isDragging });
    if (type === "drop" && canUpload) context.addFiles(dataTransfer.files);
  };
  return (
    <>
      <p class="sr" role="status">
        <span key={ui.saidCount}>{ui.said}</span>
      </p>
      <section
        class="panel"
        role="dialog"
        data-part="panel"
        aria-labelledby="title"
        aria-modal={isModal}
        hidden={!state.isOpen}
        onDragOver={drag}
        onDragLeave={drag}
        onDrop={drag}
      >
        {viewHeader(context)}
        {notice !== null && (
          <p class="notice" data-part={isRefused ? "refusal" : "status"}>
            {texts.text(notice)} {notice === "personWaiting" && expectedReplyOf(state)}
          </p>
        )}
        <div
          class="log"
          role="log"
          aria-live="off"
          tabIndex={0}
          data-part="log"
          aria-label={texts.text("conversation")}
        >
          {ui.listing !== null ? viewChats(context) : <MessageList context={context} />}
        </div>
        {ui.hasMore && (
          <button type="button" class="primary more" onClick={context.scrollToEnd}>
            {texts.text("newMessages")} ↓
          </button>
        )}
        {!isRefused && ui.listing === null && viewInput(context)}
      </section>
    </>
  );
}
