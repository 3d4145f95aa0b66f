import { Tooltip } from "radix-ui";
import type { ReactElement } from "react";
import { Kbd } from "./kbd.tsx";

/** Says what something is when it is pointed at or has the focus. */
export function Tip({ text, keys, children }: { text: string; keys?: string | undefined; children: ReactElement }) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content
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
