import { LIMITS } from "../limits.ts";
import { faultText, viewFileName, IconButton } from "./entry-view.tsx";
import type { PanelContext } from "./panel-context.ts";

/** From how many characters before the bound on the visitor is told. */
const COUNTED_FROM = 500;

/** Characters that can still be written; below 0 where there are too many. */
const charactersLeft = (text: string) => LIMITS.textMaxChars - Array.from(text).length;

/** Whether there is something to send, and all of it can be sent. */
export const canSend = ({ state, ui }: Pick<PanelContext, "state" | "ui">) =>
  state.line !== "refused" &&
  charactersLeft(ui.text) >= 0 &&
  ui.files.every(({ view }) => view.progress === null) &&
  (ui.text.trim() !== "" || ui.files.some(({ fault }) => fault === null));

/** Where the visitor writes. */
export function Composer({ context }: { context: PanelContext }) {
  const { state, texts, ui, actions, change, send } = context;
  const { upload } = state.config.features;
  const left = charactersLeft(ui.text);
  return (
    <div class="composer">
      {ui.files.map((file) => (
        <div class="row draft" key={file.key}>
          {viewFileName(file.view, texts)}
          {file.view.progress !== null && (
            <progress
              value={file.view.progress}
              aria-label={texts.text("uploading", {
                name: file.view.filename,
                percent: texts.percent(file.view.progress),
              })}
            />
          )}
          {file.fault !== null && <span class="fault">{faultText(texts, file.fault)}</span>}
          <IconButton
            icon="close"
            name={texts.text("removeFile", { name: file.view.filename })}
            onPress={() => context.removeFile(file)}
          />
        </div>
      ))}
      <p id="hint" class={ui.fault === null && left >= 0 ? "" : "fault"}>
        {ui.fault !== null
          ? faultText(texts, ui.fault)
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
                // The same file can be chosen again after it was taken out.
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
          // An empty field is turned as the panel is, and its hint with it.
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
          onKeyDown={(event) => {
            // While an input method composes, Enter chooses a word. Safari tells of it by the key code alone.
            if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
            event.preventDefault();
            send();
          }}
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
