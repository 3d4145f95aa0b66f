/** @jsxRuntime classic */
/** @jsx h */
// Loaded when the first file is chosen or shown, because few visitors need it.
import type { h } from "preact";
import { errorText } from "../locales/create-texts.ts";
import type { Texts } from "../locales/create-texts.ts";
import { LIMITS } from "../state.ts";
import type { Entry, FileAccess, FileView } from "../state.ts";
import type { DraftFile, PanelContext, Parts } from "./panel-context.ts";

/** The text for a rejected file, by HTTP status; anything else is a transfer error. */
const ERRORS: Record<number, string> = {
  409: "faultFileCount",
  413: "faultFileTooLarge",
  415: "faultFileType",
  422: "faultFileType",
  429: "faultTooFast",
  507: "faultStorage",
};

const PATH = "api/widget/files";

/**
 * Uploads a file. `onProgress` gets the share that was sent, 0 to 1. Rejects with the name of the string that describes
 * the error; after `signal` with `faultUpload`.
 */
function uploadFile(
  { base, headers }: FileAccess,
  file: File,
  onProgress: (part: number) => void,
  signal: AbortSignal,
): Promise<FileView> {
  return new Promise((resolve, reject) => {
    const error = (name: string) => reject(new Error(name));
    if (file.size === 0) return error("faultFileEmpty");
    if (file.size > LIMITS.fileMaxBytes) return error("faultFileTooLarge");
    // fetch does not report upload progress.
    const request = new XMLHttpRequest();
    request.open("POST", base + PATH);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0));
    // Emitted in every case; without a response the status is 0.
    request.addEventListener("loadend", () => {
      const stored = request.status < 300 ? parseStored(request.responseText) : null;
      if (stored === null) return error(ERRORS[request.status] ?? "faultUpload");
      resolve({ filename: file.name, mime: file.type, sizeBytes: file.size, ...stored, progress: null });
    });
    signal.addEventListener("abort", () => request.abort());
    if (signal.aborted) return error("faultUpload");
    const form = new FormData();
    form.append("file", file, file.name);
    request.send(form);
  });
}

/**
 * Fetches a file. `onProgress` gets the share that has arrived, 0 to 1. The visitor's secret is in a header, never in a
 * URL that a history or a log would contain. Rejects with the name of a string.
 */
async function fetchFile(
  { base, headers }: FileAccess,
  file: FileView,
  onProgress: (part: number) => void = () => undefined,
): Promise<Blob> {
  const address = `${base}${PATH}/${encodeURIComponent(file.fileId ?? "")}`;
  const response = await fetch(address, { headers, credentials: "omit" }).catch(() => null);
  if (response?.ok !== true) {
    throw new Error(response?.status === 404 || response?.status === 410 ? "faultFileGone" : "faultDownload");
  }
  let received = 0;
  const counted = response.body?.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(bytes, out) {
        received += bytes.length;
        // A size from the browser's storage may be invalid.
        onProgress(Math.min(1, received / file.sizeBytes) || 0);
        out.enqueue(bytes);
      },
    }),
  );
  const type = response.headers.get("Content-Type") ?? "";
  return new Response(counted, { headers: { "Content-Type": type } }).blob().catch(() => {
    throw new Error("faultDownload");
  });
}

/** Fetches a file like `fetchFile`, and hands it to the browser as a download. */
async function downloadFile(access: FileAccess, file: FileView, onProgress: (part: number) => void): Promise<void> {
  const blob = await fetchFile(access, file, onProgress);
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = file.filename;
  link.click();
  // Some browsers start to read only after the click handler has returned.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function parseStored(text: string): (Partial<FileView> & { fileId: string }) | null {
  try {
    const answer: unknown = JSON.parse(text);
    const { fileId, filename, mime, sizeBytes } = answer as Partial<FileView>;
    if (typeof fileId !== "string") return null;
    return { fileId, ...(filename && { filename }), ...(mime && { mime }), ...(sizeBytes && { sizeBytes }) };
  } catch {
    // A proxy has responded instead of the server.
    return null;
  }
}

type CreateElement = typeof h;

/** Invisible characters that change the direction of following text, with which a file name could be misleading. */
const DIRECTION_MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Images that a browser decodes, none of which can contain a script. */
const IMAGES = /^image\/(png|jpeg|gif|webp)$/;
/** Maximum size of a thumbnail, in CSS pixels. */
const THUMBNAIL = { width: 220, height: 160 };

/** Returns the name of the string with which an action has rejected. */
const errorOf = (error: unknown) => (error instanceof Error ? error.message : "faultOther");

/** Draws an image on a canvas, which unlike an image is shown whatever the policy of the page allows. */
async function paint(canvas: HTMLCanvasElement, content: Blob): Promise<void> {
  const bitmap = await createImageBitmap(content);
  const scale = Math.min(1, THUMBNAIL.width / bitmap.width, THUMBNAIL.height / bitmap.height);
  // Twice as many pixels as CSS pixels, for high-resolution screens.
  canvas.width = Math.max(1, Math.min(bitmap.width, bitmap.width * scale * 2));
  canvas.height = Math.max(1, Math.min(bitmap.height, bitmap.height * scale * 2));
  canvas.style.width = `${Math.max(24, bitmap.width * scale)}px`;
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  canvas.hidden = false;
}

/** Creates the views for sending, showing and downloading files, with the panel's own `h`, like the forms. */
// oxlint-disable-next-line max-lines-per-function, no-unused-vars -- JSX calls `h`; one state: the views of a file share what is known of it
export function create(h: CreateElement): Parts["files"] {
  /** Contents of images by `fileId`, so that they are fetched once. */
  const contents = new Map<string, Promise<Blob>>();
  let draftCount = 0;

  /** Renders an image once it is visible; if it cannot be loaded, its name remains. */
  const thumbnail = (context: PanelContext, fileId: string, content: () => Promise<Blob>) => (
    <canvas
      hidden
      aria-hidden="true"
      key={fileId}
      ref={(canvas: HTMLCanvasElement | null) => {
        if (canvas === null || canvas.dataset["fileId"] === fileId) return;
        canvas.dataset["fileId"] = fileId;
        const show = async () => {
          try {
            await paint(canvas, await content());
            context.change({});
          } catch {
            // It has expired, or this browser does not support the image.
            contents.delete(fileId);
          }
        };
        const seen = new IntersectionObserver((entries) => {
          if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
          seen.disconnect();
          void show();
        });
        // A hidden element is never visible; the button around it is.
        seen.observe(canvas.parentElement ?? canvas);
      }}
    />
  );

  /** Renders a file's name, which can neither change the direction of surrounding text nor cover it, and its size. */
  const viewName = (file: FileView, texts: Texts) => (
    <span class="name">
      <bdi>{file.filename.replace(DIRECTION_MARKS, "")}</bdi>{" "}
      <small>{file.expired ? texts.text("faultFileGone") : texts.size(file.sizeBytes)}</small>
    </span>
  );

  const icon = (path: string) => (
    <svg viewBox="0 0 24 24" aria-hidden="true">
      <path d={path} />
    </svg>
  );

  async function addOne(file: File, context: PanelContext): Promise<void> {
    const { ui, texts, actions, change, say } = context;
    const controller = new AbortController();
    const draft: DraftFile = {
      key: ++draftCount,
      view: { fileId: null, filename: file.name, mime: file.type, sizeBytes: file.size, progress: 0 },
      fault: null,
      abort: () => controller.abort(),
    };
    ui.files.push(draft);
    change({});
    try {
      const onProgress = (progress: number) => {
        draft.view.progress = progress;
        change({});
      };
      draft.view = await uploadFile(actions.fileAccess(), file, onProgress, controller.signal);
      if (draft.view.fileId !== null) contents.set(draft.view.fileId, Promise.resolve(file));
    } catch (error) {
      draft.view.progress = null;
      draft.fault = errorOf(error);
      // A visitor who has removed the file needs no message.
      if (ui.files.includes(draft)) say(`${file.name}: ${errorText(texts, draft.fault)}`);
    }
    change({});
  }

  async function download(file: FileView, entry: Entry, context: PanelContext): Promise<void> {
    const { ui, actions } = context;
    const { fileId } = file;
    if (fileId === null || ui.coming.has(fileId)) return;
    const onProgress = (part: number) => {
      ui.coming.set(fileId, part);
      context.shown.delete(entry);
      context.change({});
    };
    onProgress(0);
    const error = await downloadFile(actions.fileAccess(), file, onProgress).then(() => null, errorOf);
    ui.coming.delete(fileId);
    context.shown = new WeakMap();
    context.change({ fault: error });
  }

  const contentOf = (file: FileView, fileId: string, context: PanelContext) => () => {
    const known = contents.get(fileId) ?? fetchFile(context.actions.fileAccess(), file);
    contents.set(fileId, known);
    return known;
  };

  return {
    /** Adds files to the draft message, up to the limit. */
    add(files: readonly File[], context: PanelContext): void {
      const room = LIMITS.attachmentsMaxCount - context.ui.files.length;
      context.change({ fault: files.length > room ? "faultFileCount" : null });
      // The result of each is shown beside its name.
      void Promise.all(files.slice(0, room).map((file) => addOne(file, context)));
    },

    /** Renders a file of the draft message. */
    viewDraft(file: DraftFile, context: PanelContext) {
      const { texts, ui, change } = context;
      const { filename: name, progress } = file.view;
      const remove = () => {
        file.abort();
        change({ files: ui.files.filter((other) => other !== file) });
      };
      return (
        <div class="row draft" key={file.key}>
          {viewName(file.view, texts)}
          {progress !== null && (
            <progress
              value={progress}
              aria-label={texts.text("uploading", { name, percent: texts.percent(progress) })}
            />
          )}
          {file.fault !== null && <span class="fault">{errorText(texts, file.fault)}</span>}
          <button
            type="button"
            class="icon"
            data-part="close"
            title={texts.text("removeFile", { name })}
            onClick={remove}
          >
            {icon("M6 6l12 12M18 6L6 18")}
          </button>
        </div>
      );
    },

    /** Renders a downloadable file, and an image as a thumbnail. During a download, its button shows the progress. */
    viewFile(file: FileView, entry: Entry, context: PanelContext) {
      const { texts, ui } = context;
      const { fileId } = file;
      const coming = ui.coming.get(fileId ?? "");
      const isImage = fileId !== null && file.expired !== true && IMAGES.test(file.mime);
      return (
        <button
          type="button"
          class={isImage ? "bubble file image" : "bubble file"}
          data-part="file"
          aria-disabled={fileId === null || file.expired === true}
          title={file.expired ? undefined : texts.text("download", { name: file.filename })}
          onClick={() => void (!file.expired && download(file, entry, context))}
        >
          {isImage
            ? thumbnail(context, fileId, contentOf(file, fileId, context))
            : icon("M12 4v11M7 11l5 5 5-5M5 20h14")}
          {viewName(file, texts)}
          {coming !== undefined && <progress value={coming} aria-label={texts.percent(coming)} />}
        </button>
      );
    },
  };
}
