import { useState } from "react";
import { useTexts } from "../i18n/use-texts.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Kbd } from "../ui/kbd.tsx";
import { GROUP_TITLES } from "./command-registry.ts";
import type { CommandGroup } from "./command-registry.ts";
import { useServices } from "./services.ts";

const GROUPS = Object.keys(GROUP_TITLES) as CommandGroup[];

/** The keys of all that can be done on this page. */
export default function KeysSheet({ onClose }: { onClose: () => void }) {
  const { t } = useTexts();
  const { commands: registry } = useServices();
  const [commands] = useState(() => registry.list());
  return (
    <Dialog title={t("command.keys")} width="wide" onClose={onClose}>
      <div className="gap-x-10 px-5 py-4 sm:columns-2">
        {GROUPS.map((group) => {
          const own = commands.filter((command) => command.group === group && command.keys !== undefined);
          if (own.length === 0) return null;
          return (
            <section key={group} className="mb-5 break-inside-avoid">
              <h3 className="mb-1.5 text-2xs font-semibold text-faint uppercase">{t(GROUP_TITLES[group])}</h3>
              <dl>
                {own.map(({ id, keys = "", title }) => (
                  <div key={id} className="flex items-center justify-between gap-4 py-1 text-sm">
                    <dt className="min-w-0 truncate">{title}</dt>
                    <dd>
                      <Kbd keys={keys} />
                      <span className="sr-only">{keys}</span>
                    </dd>
                  </div>
                ))}
              </dl>
            </section>
          );
        })}
      </div>
    </Dialog>
  );
}
