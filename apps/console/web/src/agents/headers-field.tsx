import { Plus, Trash2 } from "lucide-react";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { IconButton } from "../ui/icon-button.tsx";
import { MASKED_SECRET } from "./tool-draft.ts";
import type { HeaderRow } from "./tool-draft.ts";

/** Headers that go with each call of a tool. Their values are secrets: one that is set is never shown. */
export function HeadersField({
  rows,
  onChange,
}: {
  rows: readonly HeaderRow[];
  onChange: (rows: readonly HeaderRow[]) => void;
}) {
  const { t } = useTexts();
  const set = (place: number, change: Partial<HeaderRow>) =>
    onChange(rows.map((row, index) => (index === place ? { ...row, ...change } : row)));
  return (
    <fieldset>
      <legend className="mb-1 text-sm font-medium">{t("tools.headers")}</legend>
      <p className="mb-2 text-xs text-muted">{t("tools.headersHint")}</p>
      <div className="flex flex-col gap-2">
        {rows.map(({ name, value }, index) => {
          const isSet = value === MASKED_SECRET;
          return (
            <div key={index} className="flex items-end gap-1.5">
              <Field
                label={t("tools.headerName")}
                className="min-w-0 flex-1"
                value={name}
                placeholder="Authorization"
                maxLength={100}
                spellCheck={false}
                autoComplete="off"
                onChange={({ currentTarget }) => set(index, { name: currentTarget.value })}
              />
              <Field
                label={t("tools.headerValue")}
                className="min-w-0 flex-1"
                type="password"
                value={isSet ? "" : value}
                placeholder={isSet ? t("tools.isSet") : ""}
                required={!isSet && name !== ""}
                spellCheck={false}
                autoComplete="new-password"
                onChange={({ currentTarget }) => set(index, { value: currentTarget.value })}
              />
              <IconButton
                icon={Trash2}
                label={t("tools.removeHeader", { name: name === "" ? String(index + 1) : name })}
                onClick={() => onChange(rows.filter((_, place) => place !== index))}
              />
            </div>
          );
        })}
        <Button size="small" className="self-start" onClick={() => onChange([...rows, { name: "", value: "" }])}>
          <Plus aria-hidden className="size-3.5" />
          {t("tools.addHeader")}
        </Button>
      </div>
    </fieldset>
  );
}
