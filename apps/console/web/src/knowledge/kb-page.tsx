import { useQuery } from "@tanstack/react-query";
import { linkOptions, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Ellipsis, Pencil, Trash2 } from "lucide-react";
import { Tabs } from "radix-ui";
import { useState } from "react";
import type { KbItem } from "@svc/contracts";
import { kbsQuery } from "../api/knowledge.ts";
import { useAction } from "../forms/use-action.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useProject, useRights } from "../session/services.ts";
import { IconButton } from "../ui/button.tsx";
import { TabList } from "../ui/choice-fields.tsx";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { Menu, MenuItem } from "../ui/menu.tsx";
import { ErrorNotice, Skeleton } from "../ui/notice.tsx";
import { MissingPage, PageFrame } from "../ui/page-frame.tsx";
import { DocumentsTab } from "./documents-tab.tsx";
import { NameDialog } from "./knowledge-frame.tsx";
import { SearchTab } from "./search-tab.tsx";

function Actions({ kb }: { kb: KbItem }) {
  const { t } = useTexts();
  const { connection, queryClient } = useServices();
  const project = useProject();
  const navigate = useNavigate();
  const [open, setOpen] = useState<"rename" | "delete" | null>(null);
  const { runAside } = useAction();
  const target = { params: { id: kb.id }, ifMatch: kb.version };
  const refresh = () => queryClient.invalidateQueries({ queryKey: ["kbs", project] });

  async function rename(name: string) {
    await connection.call("updateKb", project, { ...target, body: { name } });
    await refresh();
  }
  async function remove() {
    await runAside(async () => {
      await connection.call("deleteKb", project, target);
      await navigate({ to: "/$project/knowledge", params: { project } });
      return t("knowledge.deleted", { name: kb.name });
    });
    setOpen(null);
    await refresh();
  }

  return (
    <>
      <Menu
        trigger={<IconButton icon={Ellipsis} label={t("knowledge.more")} className="border border-line bg-surface" />}
      >
        <MenuItem icon={Pencil} onSelect={() => setOpen("rename")}>
          {t("knowledge.rename")}
        </MenuItem>
        <MenuItem icon={Trash2} isDanger onSelect={() => setOpen("delete")}>
          {t("knowledge.delete")}
        </MenuItem>
      </Menu>
      {open === "rename" && (
        <NameDialog
          title={t("knowledge.rename")}
          action={t("ui.save")}
          first={kb.name}
          save={rename}
          onClose={() => setOpen(null)}
        />
      )}
      {open === "delete" && (
        <ConfirmDialog
          title={t("knowledge.deleteTitle", { name: kb.name })}
          action={t("knowledge.delete")}
          onConfirm={remove}
          onClose={() => setOpen(null)}
        >
          {t("knowledge.deleteText", { n: kb.documents })}
        </ConfirmDialog>
      )}
    </>
  );
}

/** A knowledge base: its documents, and a search. */
export function KbPage() {
  const { kbId } = useParams({ from: "/$project/knowledge/$kbId" });
  const { tab = "documents" } = useSearch({ from: "/$project/knowledge/$kbId" });
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const navigate = useNavigate();
  const mayWrite = useRights()("kb:write");
  const kbs = useQuery(kbsQuery(connection, project));
  const kb = kbs.data?.find(({ id }) => id === kbId);
  if (kbs.isSuccess && kb === undefined) return <MissingPage />;
  return (
    <PageFrame
      back={{ link: linkOptions({ to: "/$project/knowledge", params: { project } }), label: t("nav.knowledge") }}
      title={kb?.name ?? <Skeleton className="my-1 h-5 w-48" />}
      text={
        kb !== undefined &&
        `${t("knowledge.documents", { n: kb.documents })} · ${t("knowledge.passages", { n: kb.chunks })}`
      }
      actions={mayWrite && kb !== undefined && <Actions kb={kb} />}
    >
      {kbs.isError && <ErrorNotice error={kbs.error} onRetry={() => void kbs.refetch()} />}
      {kb !== undefined && (
        <Tabs.Root
          value={tab}
          onValueChange={(next) =>
            void navigate({ to: ".", search: next === "search" ? { tab: "search" as const } : {}, replace: true })
          }
        >
          <TabList
            label={kb.name}
            tabs={[
              { value: "documents", label: t("knowledge.documentsTab") },
              { value: "search", label: t("knowledge.searchTab") },
            ]}
          />
          <Tabs.Content value="documents" className="pt-1.5" tabIndex={-1}>
            <DocumentsTab key={kb.id} kb={kb} />
          </Tabs.Content>
          <Tabs.Content value="search" className="pt-1.5" tabIndex={-1}>
            <SearchTab key={kb.id} kb={kb} />
          </Tabs.Content>
        </Tabs.Root>
      )}
    </PageFrame>
  );
}
