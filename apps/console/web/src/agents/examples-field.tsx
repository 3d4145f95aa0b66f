import { Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { IconButton } from "../ui/icon-button.tsx";
import { TextArea } from "../ui/text-area.tsx";

/** An agent may have thousands of examples: so many are shown at once. */
const SHOWN_COUNT = 50;

/** The messages that an agent should get. Several are added at once, one a line. */
export function ExamplesField({
  examples,
  fault,
  isDisabled,
  onChange,
}: {
  examples: readonly string[];
  fault: string | undefined;
  isDisabled: boolean;
  onChange: (examples: string[]) => void;
}) {
  const { t } = useTexts();
  const [typed, setTyped] = useState("");
  const [shown, setShown] = useState(SHOWN_COUNT);
  const lines = typed
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

  function add() {
    onChange([...new Set([...examples, ...lines])]);
    setTyped("");
  }

  return (
    <div className="flex flex-col gap-3">
      {!isDisabled && (
        <div>
          <TextArea
            label={t("agents.addExamples")}
            hint={t("agents.examplesHint")}
            fault={fault}
            rows={2}
            value={typed}
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || lines.length === 0) return;
              event.preventDefault();
              add();
            }}
          />
          <Button size="small" className="mt-2" disabled={lines.length === 0} onClick={add}>
            <Plus aria-hidden className="size-3.5" />
            {t("agents.addExamplesNow")}
          </Button>
        </div>
      )}
      {examples.length === 0 ? (
        <p className="text-sm text-muted">{t("agents.noExamples")}</p>
      ) : (
        <ul
          aria-label={t("agents.examples")}
          className="max-h-80 divide-y divide-line overflow-y-auto rounded-lg border border-line"
        >
          {examples.slice(0, shown).map((example, index) => (
            <li key={index} className="flex items-start gap-2 py-1 pr-1 pl-3 text-sm">
              <span className="min-w-0 flex-1 py-1 wrap-anywhere whitespace-pre-line" dir="auto">
                {example}
              </span>
              {!isDisabled && (
                <IconButton
                  icon={Trash2}
                  size="small"
                  className="mt-0.5"
                  label={t("agents.removeExample", { example: example.slice(0, 60) })}
                  onClick={() => onChange(examples.filter((_, place) => place !== index))}
                />
              )}
            </li>
          ))}
        </ul>
      )}
      {examples.length > shown && (
        <Button size="small" className="self-start" onClick={() => setShown(shown + SHOWN_COUNT)}>
          {t("ui.more")}
        </Button>
      )}
    </div>
  );
}
