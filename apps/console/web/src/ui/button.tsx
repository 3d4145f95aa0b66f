import { Tooltip } from "radix-ui";
import type { ReactElement, ComponentProps } from "react";
import type { LucideIcon } from "lucide-react";
import { useTexts } from "../i18n/texts.ts";

const SIGNS: Record<string, string> = {
  Enter: "↵",
  Escape: "Esc",
  ArrowUp: "↑",
  ArrowDown: "↓",
  " ": "␣",
};

const isApple = () => /mac|iphone|ipad/i.test(navigator.userAgent);

/** Returns a key as it is labelled on keyboards: `mod+k` is Ctrl K (German: Strg K), and ⌘ K on Apple's. */
function writeKey(key: string, ctrl: string): string[] {
  return key.split(/\+(?=.)/).map((part) => {
    if (part === "mod") return isApple() ? "⌘" : ctrl;
    if (part === "shift") return "⇧";
    return SIGNS[part] ?? part.toUpperCase();
  });
}

/** The keys of a command, hidden from screen readers: the list of keyboard shortcuts contains them. */
export function Kbd({ keys, isOn = "surface" }: { keys: string; isOn?: "surface" | "accent" }) {
  const { t } = useTexts();
  const variant = isOn === "accent" ? "border-on-accent/35 text-on-accent" : "border-line bg-page text-muted";
  return (
    <span aria-hidden className="ml-0.5 inline-flex gap-0.5 max-md:hidden">
      {keys.split(" ").flatMap((key) =>
        writeKey(key, t("keys.ctrl")).map((part) => (
          <kbd
            key={key + part}
            className={`inline-flex h-4.5 min-w-4.5 items-center justify-center rounded border px-1 font-sans text-2xs font-medium ${variant}`}
          >
            {part}
          </kbd>
        )),
      )}
    </span>
  );
}

/** A tooltip: shown while the pointer is over its element or the element has the focus. */
export function Tip({
  text,
  keys,
  isLabel = false,
  children,
}: {
  text: string;
  keys?: string | undefined;
  /** True where nothing else names an icon: it appears at once, beside the icon. */
  isLabel?: boolean;
  children: ReactElement;
}) {
  return (
    <Tooltip.Root {...(isLabel && { delayDuration: 0 })}>
      <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content
          side={isLabel ? "right" : "top"}
          sideOffset={6}
          collisionPadding={8}
          className="z-50 flex max-w-72 items-center gap-1.5 rounded-md bg-ink px-2 py-1 text-xs text-page shadow-pop"
        >
          {text}
          {keys !== undefined && <Kbd keys={keys} />}
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}

const VARIANTS = {
  primary: "bg-accent text-on-accent hover:bg-accent-strong border-transparent",
  plain: "bg-surface text-ink border-line hover:bg-hover",
  quiet: "bg-transparent text-muted border-transparent hover:bg-hover hover:text-ink",
  danger: "bg-surface text-bad border-line hover:bg-bad-soft",
} as const;

const SIZES = { normal: "h-8 px-3 text-sm gap-1.5", small: "h-7 px-2 text-xs gap-1" } as const;

/** A button. With `isBusy` it keeps its position and does nothing; `icon` precedes its text, `keys` follow it. */
export function Button({
  variant = "plain",
  size = "normal",
  icon: Icon,
  isBusy = false,
  keys,
  className = "",
  children,
  onClick,
  type = "button",
  ...rest
}: ComponentProps<"button"> & {
  variant?: keyof typeof VARIANTS;
  size?: keyof typeof SIZES;
  icon?: LucideIcon;
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
      className={`inline-flex shrink-0 items-center justify-center rounded-md border font-medium whitespace-nowrap transition-colors disabled:cursor-not-allowed disabled:opacity-50 aria-busy:opacity-60 ${VARIANTS[variant]} ${SIZES[size]} ${className}`}
    >
      {Icon !== undefined && <Icon aria-hidden className={size === "small" ? "size-3.5" : "size-4"} />}
      {children}
      {keys !== undefined && <Kbd keys={keys} isOn={variant === "primary" ? "accent" : "surface"} />}
    </button>
  );
}

const ICON_SIZES = { small: "size-6 [&_svg]:size-3.5", normal: "size-8 [&_svg]:size-4" } as const;

/** A button with only an icon; its name is its tooltip. */
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
  size?: keyof typeof ICON_SIZES;
  isPressed?: boolean;
}) {
  return (
    <Tip text={label} keys={keys}>
      <button
        type="button"
        {...rest}
        aria-label={label}
        aria-pressed={isPressed}
        className={`inline-flex shrink-0 items-center justify-center rounded-md text-muted transition-colors hover:bg-hover hover:text-ink disabled:opacity-40 aria-pressed:bg-accent-soft aria-pressed:text-accent ${ICON_SIZES[size]} ${className}`}
      >
        <Icon aria-hidden />
      </button>
    </Tip>
  );
}
