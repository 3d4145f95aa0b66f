import { useId } from "react";
import { useTexts } from "../i18n/use-texts.ts";
import { CONTROL } from "../ui/field.tsx";
import { isColor } from "./text-color-on.ts";

/** A color, chosen by eye or typed as `#rrggbb`. */
export function ColorField({
  label,
  value,
  fault,
  isDisabled,
  onChange,
}: {
  label: string;
  value: string;
  fault: string | undefined;
  isDisabled: boolean;
  onChange: (color: string) => void;
}) {
  const { t } = useTexts();
  const id = useId();
  const said = fault ?? (isColor(value) ? undefined : t("widget.colorForm"));
  return (
    <div>
      <label htmlFor={id} className="mb-1 block text-sm font-medium">
        {label}
      </label>
      <div className="flex gap-2">
        <input
          type="color"
          aria-label={t("widget.pickColor")}
          value={isColor(value) ? value : "#000000"}
          disabled={isDisabled}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
          className="h-8 w-11 shrink-0 cursor-pointer rounded-md border border-edge bg-surface p-0.5 disabled:opacity-60"
        />
        <input
          id={id}
          value={value}
          disabled={isDisabled}
          spellCheck={false}
          aria-invalid={said !== undefined}
          aria-describedby={said === undefined ? undefined : `${id}-hint`}
          onChange={({ currentTarget }) => onChange(currentTarget.value.trim())}
          className={`${CONTROL} font-mono`}
        />
      </div>
      {said !== undefined && (
        <p id={`${id}-hint`} className="mt-1 text-xs text-bad">
          {said}
        </p>
      )}
    </div>
  );
}
