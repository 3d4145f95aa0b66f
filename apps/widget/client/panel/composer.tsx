import { LIMITS } from "../limits.ts";
import { errorText } from "../error-text.ts";
import { IconButton } from "./entry-view.tsx";
import type { PanelContext } from "./panel-context.ts";

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
export function Composer({ context }: { context: PanelContext }) {
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
