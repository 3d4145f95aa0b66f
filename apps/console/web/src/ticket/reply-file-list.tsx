import { CircleAlert, LoaderCircle, Paperclip, RotateCw, X } from "lucide-react";
import { useTexts } from "../i18n/use-texts.ts";
import { sizeText } from "../ui/size-text.ts";
import type { ReplyFile, ReplyFiles } from "./use-reply-files.ts";

const SIGNS = {
  sending: { icon: LoaderCircle, look: "animate-spin text-accent" },
  ready: { icon: Paperclip, look: "text-faint" },
  failed: { icon: CircleAlert, look: "text-bad" },
} as const satisfies Record<ReplyFile["state"], { icon: typeof Paperclip; look: string }>;

/** The files that go with what is being written. */
export function ReplyFileList({
  files: { files, tryAgain },
  onRemove,
}: {
  files: ReplyFiles;
  onRemove: (key: number) => void;
}) {
  const { number, t } = useTexts();
  if (files.length === 0) return null;
  return (
    <ul aria-label={t("ticket.files")} className="mt-1.5 flex flex-wrap gap-1.5">
      {files.map((file) => {
        const { content, error, key, name, sizeBytes, state } = file;
        const { icon: Icon, look } = SIGNS[state];
        return (
          <li
            key={key}
            className="flex max-w-full items-center gap-1.5 rounded-md border border-line bg-surface py-0.5 pr-0.5 pl-2 text-xs"
          >
            <Icon aria-hidden className={`size-3.5 shrink-0 ${look}`} />
            <span dir="auto" className="truncate font-medium">
              {name}
            </span>
            <span role="status" className={`shrink-0 ${error === null ? "text-muted" : "text-bad"}`}>
              {error ?? (state === "sending" ? t("compose.sending") : sizeText(sizeBytes, number))}
            </span>
            {state === "failed" && content !== null && (
              <button
                type="button"
                aria-label={t("compose.retryFile", { name })}
                title={t("compose.retryFile", { name })}
                onClick={() => tryAgain(file)}
                className="flex size-6 shrink-0 items-center justify-center rounded text-muted hover:bg-hover hover:text-ink"
              >
                <RotateCw aria-hidden className="size-3.5" />
              </button>
            )}
            <button
              type="button"
              aria-label={t("compose.removeFile", { name })}
              title={t("compose.removeFile", { name })}
              onClick={() => onRemove(key)}
              className="flex size-6 shrink-0 items-center justify-center rounded text-muted hover:bg-hover hover:text-ink"
            >
              <X aria-hidden className="size-3.5" />
            </button>
          </li>
        );
      })}
    </ul>
  );
}
