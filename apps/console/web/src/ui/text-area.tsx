import { useId } from "react";
import type { ComponentProps, ReactNode } from "react";

/** A labelled place for several lines. */
export function TextArea({
  label,
  hint,
  fault,
  className = "",
  ...rest
}: ComponentProps<"textarea"> & { label: string; hint?: ReactNode; fault?: string | undefined }) {
  const id = useId();
  const said = fault ?? hint;
  return (
    <div className={className}>
      <label htmlFor={id} className="mb-1 block text-sm font-medium">
        {label}
      </label>
      <textarea
        rows={4}
        {...rest}
        id={id}
        aria-invalid={fault !== undefined}
        aria-describedby={said === undefined ? undefined : `${id}-hint`}
        className="block w-full resize-y rounded-md border border-edge bg-surface px-2.5 py-1.5 text-base text-ink aria-invalid:border-bad disabled:opacity-60 md:text-sm"
      />
      {said !== undefined && (
        <p id={`${id}-hint`} className={`mt-1 text-xs ${fault === undefined ? "text-muted" : "text-bad"}`}>
          {said}
        </p>
      )}
    </div>
  );
}
