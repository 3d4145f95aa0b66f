import { Switch as Base } from "radix-ui";
import { useId } from "react";
import type { ReactNode } from "react";

/** Something that is on or off. `label` is shown beside it unless it is hidden. */
export function Switch({
  label,
  hidesLabel = false,
  hint,
  isOn,
  isDisabled = false,
  onChange,
}: {
  label: string;
  hidesLabel?: boolean;
  hint?: ReactNode;
  isOn: boolean;
  isDisabled?: boolean;
  onChange: (isOn: boolean) => void;
}) {
  const id = useId();
  return (
    <div className="flex items-start gap-2.5">
      <Base.Root
        id={id}
        checked={isOn}
        disabled={isDisabled}
        onCheckedChange={onChange}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        className="relative mt-px h-5 w-9 shrink-0 rounded-full bg-edge transition-colors disabled:opacity-50 data-[state=checked]:bg-accent"
      >
        <Base.Thumb className="block size-4 translate-x-0.5 rounded-full bg-surface transition-transform data-[state=checked]:translate-x-4.5" />
      </Base.Root>
      <div className={hidesLabel && hint === undefined ? "sr-only" : "min-w-0"}>
        <label htmlFor={id} className={hidesLabel ? "sr-only" : "block text-sm font-medium"}>
          {label}
        </label>
        {hint !== undefined && (
          <p id={`${id}-hint`} className="text-xs text-muted">
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}
