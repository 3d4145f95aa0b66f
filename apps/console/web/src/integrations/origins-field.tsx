import { useEffect, useState } from "react";
import { useTexts } from "../i18n/use-texts.ts";
import { Notice } from "../ui/notice.tsx";
import { TextArea } from "../ui/text-area.tsx";

const linesOf = (text: string) =>
  text
    .split(/[\s,]+/)
    // An address that was copied from the bar of a browser ends with a slash, an origin does not.
    .map((line) => line.replace(/(?<=[^/])\/$/, ""))
    .filter((line) => line !== "");

/** Sites that may use the widget, one a line. */
export function OriginsField({
  value,
  fault,
  isDisabled,
  onChange,
}: {
  value: readonly string[];
  fault: string | undefined;
  isDisabled: boolean;
  onChange: (origins: string[]) => void;
}) {
  const { t } = useTexts();
  const [text, setText] = useState(() => value.join("\n"));
  const saved = value.join("\n");
  // What somebody types keeps its line breaks; what comes from elsewhere takes its place.
  useEffect(() => {
    setText((typed) => (linesOf(typed).join("\n") === saved ? typed : saved));
  }, [saved]);
  return (
    <div className="flex flex-col gap-2">
      <TextArea
        label={t("widget.origins")}
        hint={t("widget.originsHint")}
        fault={fault}
        rows={3}
        spellCheck={false}
        placeholder="https://www.example.com"
        value={text}
        disabled={isDisabled}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value);
          onChange(linesOf(currentTarget.value));
        }}
      />
      {value.length === 0 && <Notice look="warn">{t("widget.anySiteWarning")}</Notice>}
    </div>
  );
}
