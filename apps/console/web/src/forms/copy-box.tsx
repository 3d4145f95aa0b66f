import { Check, Copy } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTexts } from "../i18n/texts.ts";
import { useServices } from "../session/services.ts";
import { Button, IconButton } from "../ui/button.tsx";

const COPIED_MS = 2_000;

/** Code or a secret with a copy button. `label` is its name. */
export function CopyBox({ label, text, isWrapped = false }: { label: string; text: string; isWrapped?: boolean }) {
  const { t } = useTexts();
  const { toasts } = useServices();
  const [isCopied, setCopied] = useState(false);
  const codeRef = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), COPIED_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);

  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
    } catch {
      // Without HTTPS browsers provide no clipboard: then the text is selected, so that it can be copied with the
      // keyboard.
      const { current } = codeRef;
      if (current !== null) getSelection()?.selectAllChildren(current);
      toasts.show({ kind: "error", text: t("copy.byHand") });
    }
  }

  return (
    <div className="flex items-start gap-1 rounded-lg border border-line bg-sunken py-1 pr-1 pl-3">
      <pre
        ref={codeRef}
        tabIndex={0}
        aria-label={label}
        role="region"
        className={`min-w-0 flex-1 overflow-x-auto py-1 font-mono text-xs leading-5 ${isWrapped ? "wrap-anywhere whitespace-pre-wrap" : ""}`}
      >
        {text}
      </pre>
      <Button size="small" variant="quiet" onClick={() => void copy()} aria-label={t("copy.what", { what: label })}>
        {isCopied ? <Check aria-hidden className="size-3.5 text-ok" /> : <Copy aria-hidden className="size-3.5" />}
        <span aria-live="polite" className="max-sm:sr-only">
          {isCopied ? t("copy.done") : t("copy.copy")}
        </span>
      </Button>
    </div>
  );
}

/** A button that copies an ID. */
export function CopyId({ label, text }: { label: string; text: string }) {
  const { t } = useTexts();
  const { toasts } = useServices();
  const copy = () =>
    void navigator.clipboard.writeText(text).then(
      () => toasts.show({ kind: "done", text: t("copy.done") }),
      () => toasts.show({ kind: "error", text: t("copy.blocked") }),
    );
  return (
    <IconButton
      icon={Copy}
      size="small"
      label={t("copy.what", { what: label })}
      className="-my-1 ml-1 align-middle"
      onClick={copy}
    />
  );
}

/** An ID in one line, truncated if necessary, with a button that copies it. */
export function IdText({ label, text }: { label: string; text: string }) {
  return (
    <span className="flex items-center">
      <bdi title={text} className="truncate">
        {text}
      </bdi>
      <CopyId label={label} text={text} />
    </span>
  );
}
