import { Command as CommandList } from "cmdk";
import { Search } from "lucide-react";
import { useState } from "react";
import { useTexts } from "../i18n/use-texts.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Kbd } from "../ui/kbd.tsx";
import { GROUP_TITLES } from "./command-registry.ts";
import type { CommandGroup } from "./command-registry.ts";
import { useServices } from "./services.ts";

const GROUPS = Object.keys(GROUP_TITLES) as CommandGroup[];

/** All that can be done now, found by a few letters of it. */
export default function CommandPalette({ onClose }: { onClose: () => void }) {
  const { t } = useTexts();
  const { commands: registry } = useServices();
  const [commands] = useState(() => registry.list().filter(({ id }) => id !== "palette"));
  return (
    <Dialog title={t("command.palette")} hidesTitle onClose={onClose}>
      <CommandList label={t("command.palette")} loop>
        <div className="flex items-center gap-2.5 border-b border-line px-4">
          <Search aria-hidden className="size-4 shrink-0 text-faint" />
          <CommandList.Input
            autoFocus
            placeholder={t("command.placeholder")}
            className="h-12 w-full bg-transparent text-base outline-none"
          />
        </div>
        <CommandList.List className="h-[min(24rem,60vh)] overflow-y-auto p-1.5">
          <CommandList.Empty className="px-3 py-8 text-center text-sm text-muted">
            {t("command.none")}
          </CommandList.Empty>
          {GROUPS.map((group) => {
            const own = commands.filter((command) => command.group === group);
            if (own.length === 0) return null;
            return (
              <CommandList.Group
                key={group}
                heading={t(GROUP_TITLES[group])}
                className="[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:py-1.5 [&_[cmdk-group-heading]]:text-2xs [&_[cmdk-group-heading]]:font-semibold [&_[cmdk-group-heading]]:text-faint"
              >
                {own.map(({ id, keys, run, title }) => (
                  <CommandList.Item
                    key={id}
                    value={`${title} ${id}`}
                    onSelect={() => {
                      onClose();
                      // The dialog gives the focus back first: the command may want it elsewhere.
                      setTimeout(run);
                    }}
                    className="flex h-9 cursor-pointer items-center gap-2 rounded-md px-2.5 text-sm data-[selected=true]:bg-hover"
                  >
                    <span className="min-w-0 flex-1 truncate">{title}</span>
                    {keys !== undefined && <Kbd keys={keys} />}
                  </CommandList.Item>
                ))}
              </CommandList.Group>
            );
          })}
        </CommandList.List>
      </CommandList>
    </Dialog>
  );
}
