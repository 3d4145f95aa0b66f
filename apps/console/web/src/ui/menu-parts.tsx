import type { LucideIcon } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import { useEffect, useRef } from "react";
import type { ReactElement, ReactNode } from "react";
import { Kbd } from "./button.tsx";

/** A menu that opens at a button, and is initially open. */
export function Menu({
  trigger,
  align = "end",
  opensAs,
  children,
}: {
  trigger: ReactElement;
  align?: "start" | "end";
  /** How it was first opened: with the keyboard, the first item is selected. */
  opensAs: "pointer" | "keyboard";
  children: ReactNode;
}) {
  const content = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (opensAs === "keyboard") content.current?.querySelector<HTMLElement>("[role^=menuitem]")?.focus();
  }, [opensAs]);
  return (
    <DropdownMenu.Root modal={false} defaultOpen>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          ref={content}
          align={align}
          sideOffset={4}
          collisionPadding={8}
          className="animate-appear z-40 max-h-(--radix-dropdown-menu-content-available-height) min-w-48 overflow-y-auto rounded-lg border border-line bg-raised p-1 shadow-pop"
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

const ITEM =
  "flex cursor-pointer items-center gap-2 rounded-md px-2 py-1.5 text-sm outline-none select-none data-disabled:opacity-45 data-highlighted:bg-hover";

/** An action in a menu. */
export function MenuItem({
  icon: Icon,
  keys,
  isDanger = false,
  isDisabled = false,
  onSelect,
  children,
}: {
  icon?: LucideIcon;
  keys?: string;
  isDanger?: boolean;
  isDisabled?: boolean;
  onSelect: () => void;
  children: ReactNode;
}) {
  return (
    <DropdownMenu.Item disabled={isDisabled} onSelect={onSelect} className={`${ITEM} ${isDanger ? "text-bad" : ""}`}>
      {Icon !== undefined && <Icon aria-hidden className="size-4 shrink-0 text-muted" />}
      <span className="min-w-0 flex-1 truncate">{children}</span>
      {keys !== undefined && <Kbd keys={keys} />}
    </DropdownMenu.Item>
  );
}

/** One of several options in a menu. */
export function MenuChoice({
  value,
  onChange,
  options,
  label,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  options: readonly { value: string; label: string }[];
}) {
  return (
    <DropdownMenu.RadioGroup value={value} onValueChange={onChange} aria-label={label}>
      <DropdownMenu.Label className="px-2 pt-1.5 pb-1 text-2xs font-semibold text-faint">{label}</DropdownMenu.Label>
      {options.map((option) => (
        <DropdownMenu.RadioItem key={option.value} value={option.value} className={ITEM}>
          <span aria-hidden className="flex size-4 items-center justify-center">
            <DropdownMenu.ItemIndicator className="size-1.5 rounded-full bg-accent" />
          </span>
          <span className="min-w-0 flex-1 truncate">{option.label}</span>
        </DropdownMenu.RadioItem>
      ))}
    </DropdownMenu.RadioGroup>
  );
}

/** A separator between groups of items. */
export const MenuSeparator = () => <DropdownMenu.Separator className="my-1 h-px bg-line" />;
