import type { ComponentProps } from "react";
import { Kbd } from "./kbd.tsx";

const LOOKS = {
  primary: "bg-accent text-on-accent hover:bg-accent-strong border-transparent",
  plain: "bg-surface text-ink border-line hover:bg-hover",
  quiet: "bg-transparent text-muted border-transparent hover:bg-hover hover:text-ink",
  danger: "bg-surface text-bad border-line hover:bg-bad-soft",
} as const;

const SIZES = { normal: "h-8 px-3 text-sm gap-1.5", small: "h-7 px-2 text-xs gap-1" } as const;

/** A button. With `isBusy` it stays where it is and does nothing; `keys` are shown on it. */
export function Button({
  look = "plain",
  size = "normal",
  isBusy = false,
  keys,
  className = "",
  children,
  onClick,
  type = "button",
  ...rest
}: ComponentProps<"button"> & {
  look?: keyof typeof LOOKS;
  size?: keyof typeof SIZES;
  isBusy?: boolean;
  keys?: string | undefined;
}) {
  return (
    <button
      {...rest}
      type={type}
      aria-busy={isBusy}
      aria-disabled={isBusy || rest.disabled}
      onClick={isBusy ? (event) => event.preventDefault() : onClick}
      className={`inline-flex shrink-0 items-center justify-center rounded-md border font-medium whitespace-nowrap transition-colors disabled:cursor-not-allowed disabled:opacity-50 aria-busy:opacity-60 ${LOOKS[look]} ${SIZES[size]} ${className}`}
    >
      {children}
      {keys !== undefined && <Kbd keys={keys} isOn={look === "primary" ? "accent" : "surface"} />}
    </button>
  );
}
