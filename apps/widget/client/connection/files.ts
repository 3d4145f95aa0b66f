import { LIMITS } from "../limits.ts";
import type { FileAccess, FileView } from "../state.ts";

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
export function uploadFile(
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
export async function fetchFile(
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
export async function downloadFile(
  access: FileAccess,
  file: FileView,
  onProgress: (part: number) => void,
): Promise<void> {
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
