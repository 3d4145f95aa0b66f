import { Composer } from "./composer.tsx";
import { authorOf, IconButton } from "./entry-view.tsx";
import { MessageList } from "./message-list.tsx";
import type { PanelContext } from "./panel-context.ts";

/**
 * Asks before the first message who writes. What is wrong is said by the browser, which ties it to its field, in the
 * words of the widget.
 */
const ContactForm = ({ context: { state, texts, actions } }: { context: PanelContext }) => (
  <form
    class="composer form"
    data-part="prechat"
    onSubmit={(event) => {
      event.preventDefault();
      actions.introduce(Object.fromEntries(new FormData(event.currentTarget)));
    }}
  >
    {texts.text("prechatIntro")}
    {state.config.features.prechat.map((field) => (
      <label>
        {texts.text(field === "name" ? "prechatName" : "prechatEmail")}
        <input
          name={field}
          // The types of a field's attributes are apart by its type.
          type={(field === "name" ? "text" : field) as "email"}
          autocomplete={field}
          required
          // White space alone is no name.
          pattern=".*\S.*"
          maxLength={field === "name" ? 200 : 320}
          dir="auto"
          data-focus
          onInput={(event) => event.currentTarget.setCustomValidity("")}
          onInvalid={(event) =>
            event.currentTarget.setCustomValidity(
              texts.text(field === "name" ? "prechatNameMissing" : "prechatEmailInvalid"),
            )
          }
        />
      </label>
    ))}
    <button class="primary">{texts.text("prechatStart")}</button>
  </form>
);

/** Returns the name of the string that describes the connection or the conversation; null if there is nothing to say. */
export function noticeOf({ line, refusal, conversation, entries }: PanelContext["state"]): string | null {
  if (line === "refused") return refusal ?? "refusedKey";
  if (line === "offline" || line === "connecting") return line;
  const last = entries.at(-1);
  // Nobody waits for a person who has just written.
  if (conversation === "waiting" && last !== undefined && authorOf(last) === "operator") return null;
  return { open: null, waiting: "personWaiting", done: "done" }[conversation];
}

const viewHeader = ({ state: { config, hasSound }, texts, actions }: PanelContext) => {
  const sound = hasSound ? "soundOff" : "soundOn";
  return (
    <header class="row">
      <h2 id="title" dir="auto">
        {config.title || texts.text("title")}
      </h2>
      {config.features.sound && (
        <IconButton icon={sound} name={texts.text(sound)} onPress={() => actions.setSound(!hasSound)} />
      )}
      <IconButton icon="close" name={texts.text("closeChat")} onPress={actions.close} />
    </header>
  );
};

/** The open panel, and the live region that stays when it is closed. */
export function PanelView({ context, isModal }: { context: PanelContext; isModal: boolean }) {
  const { state, texts, ui, change } = context;
  const { line, needsContact, config } = state;
  const isRefused = line === "refused";
  const canUpload = config.features.upload && !needsContact && !isRefused;
  const notice = ui.isDragging ? "dropFiles" : noticeOf(state);
  const drag = (event: DragEvent) => {
    const { dataTransfer, type } = event;
    if (dataTransfer?.types.includes("Files") !== true) return;
    // Otherwise the browser leaves the page for the file.
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
            {texts.text(notice)}
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
          <MessageList context={context} />
        </div>
        {ui.hasMore && (
          <button type="button" class="primary more" onClick={context.scrollToEnd}>
            {texts.text("newMessages")} ↓
          </button>
        )}
        {!isRefused &&
          (needsContact ? <ContactForm key={state.turn} context={context} /> : <Composer context={context} />)}
      </section>
    </>
  );
}
