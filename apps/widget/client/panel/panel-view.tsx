import { Composer } from "./composer.tsx";
import { authorOf, IconButton, viewImage } from "./entry-view.tsx";
import { MessageList } from "./message-list.tsx";
import type { PanelContext } from "./panel-context.ts";

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
