import { cloneElement, startTransition, use, useState } from "react";
import type { ComponentProps, KeyboardEvent, MouseEvent, ReactElement } from "react";
import type * as MenuParts from "./menu-parts.tsx";

let loading: Promise<typeof MenuParts> | undefined;

/** Loads the script of menus once. A failed attempt is repeated at the next use. */
function loadParts(): Promise<typeof MenuParts> {
  loading ??= import("./menu-parts.tsx").catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}
/** Starts loading in advance. Errors are reported when the menu is opened. */
const preload = () => void loadParts().catch(() => undefined);

/** How a menu was first opened. */
type FirstUse = "pointer" | "keyboard";

function LoadedMenu({ firstUse, ...props }: MenuProps & { firstUse: FirstUse }) {
  const { Menu: Loaded } = use(loadParts());
  return <Loaded {...props} opensAs={firstUse} />;
}

type MenuProps = Omit<ComponentProps<typeof MenuParts.Menu>, "opensAs">;

/**
 * A menu that opens at a button, without changing the layout of the page. The script of menus is loaded when one is
 * first hovered or focused; until it is loaded, the button stays unchanged.
 */
export function Menu(props: MenuProps) {
  const [firstUse, setFirstUse] = useState<FirstUse | null>(null);
  if (firstUse !== null) return <LoadedMenu {...props} firstUse={firstUse} />;
  const open = (by: FirstUse) => startTransition(() => setFirstUse(by));
  return cloneElement(props.trigger as ReactElement<ComponentProps<"button">>, {
    "aria-haspopup": "menu",
    "aria-expanded": false,
    onPointerEnter: preload,
    onFocus: preload,
    // A click without a pointer comes from Enter or Space.
    onClick: ({ detail }: MouseEvent) => open(detail === 0 ? "keyboard" : "pointer"),
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== "ArrowDown") return;
      event.preventDefault();
      open("keyboard");
    },
  });
}

/** An action in a menu. */
export function MenuItem(props: ComponentProps<typeof MenuParts.MenuItem>) {
  const { MenuItem: Loaded } = use(loadParts());
  return <Loaded {...props} />;
}

/** One of several options in a menu. */
export function MenuChoice(props: ComponentProps<typeof MenuParts.MenuChoice>) {
  const { MenuChoice: Loaded } = use(loadParts());
  return <Loaded {...props} />;
}

/** A separator between groups of items. */
export function MenuSeparator() {
  const { MenuSeparator: Loaded } = use(loadParts());
  return <Loaded />;
}
