import type { LucideIcon } from "lucide-react";
import type { ComponentProps } from "react";
import { Tip } from "./tip.tsx";

const SIZES = { small: "size-6 [&_svg]:size-3.5", normal: "size-8 [&_svg]:size-4" } as const;

/** A button with an icon; its name is shown when it is pointed at. */
export function IconButton({
  icon: Icon,
  label,
  keys,
  size = "normal",
  isPressed,
  className = "",
  ...rest
}: Omit<ComponentProps<"button">, "children"> & {
  icon: LucideIcon;
  label: string;
  keys?: string | undefined;
  size?: keyof typeof SIZES;
  isPressed?: boolean;
}) {
  return (
    <Tip text={label} keys={keys}>
      <button
        type="button"
        {...rest}
        aria-label={label}
        aria-pressed={isPressed}
        className={`inline-flex shrink-0 items-center justify-center rounded-md text-muted transition-colors hover:bg-hover hover:text-ink disabled:opacity-40 aria-pressed:bg-accent-soft aria-pressed:text-accent ${SIZES[size]} ${className}`}
      >
        <Icon aria-hidden />
      </button>
    </Tip>
  );
}
