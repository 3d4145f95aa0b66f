import { useQuery } from "@tanstack/react-query";
import { linkOptions, useNavigate } from "@tanstack/react-router";
import { BookOpen, Plus, TriangleAlert } from "lucide-react";
import { useState } from "react";
import type { KbItem } from "@svc/contracts";
import { kbsQuery } from "../api/knowledge.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useCommands, useProject, useRights } from "../session/services.ts";
import { Ago } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { EmptyState, ErrorNotice, Skeleton } from "../ui/notice.tsx";
import { LinkCard } from "../ui/page-frame.tsx";
import { KnowledgeFrame, NameDialog, ReadingBar } from "./knowledge-frame.tsx";

function Card({ kb }: { kb: KbItem }) {
  const texts = useTexts();
  const { t, number } = texts;
  const project = useProject();
  const { chunks, documents, failed, id, name, queued, updatedAt } = kb;
  return (
    <LinkCard
      icon={BookOpen}
      title={name}
      link={linkOptions({ to: "/$project/knowledge/$kbId", params: { project, kbId: id } })}
      text={`${t("knowledge.documents", { n: documents })} · ${t("knowledge.passages", { n: chunks })}`}
    >
      <div className="mt-3 flex min-h-5 items-center gap-3 text-xs text-muted">
        {queued > 0 ? (
          <ReadingBar done={documents - queued} all={documents} label={t("knowledge.reading", { n: queued })} />
        ) : failed > 0 ? (
          <span className="flex items-center gap-1 font-medium text-bad">
            <TriangleAlert aria-hidden className="size-3.5" />
            {t("knowledge.unreadable", { n: failed, count: number(failed) })}
          </span>
        ) : (
          <span>
            {t("knowledge.changed")} <Ago time={updatedAt} as="past" />
          </span>
        )}
      </div>
    </LinkCard>
  );
}

/** The knowledge bases of a project. */
export function BasesPage() {
  const { t } = useTexts();
  const { connection, queryClient } = useServices();
  const project = useProject();
  const navigate = useNavigate();
  const mayWrite = useRights()("kb:write");
  const [isMaking, setMaking] = useState(false);
  const kbs = useQuery(kbsQuery(connection, project));
  const create = { id: "new-kb", title: t("knowledge.make"), keys: "c", run: () => setMaking(true) };
  useCommands("page", [mayWrite && create]);

  async function make(name: string) {
    const { item } = await connection.call("createKb", project, { body: { name } });
    void queryClient.invalidateQueries({ queryKey: ["kbs", project] });
    await navigate({ to: "/$project/knowledge/$kbId", params: { project, kbId: item.id } });
  }

  const button = mayWrite && (
    <Button icon={Plus} variant="primary" onClick={create.run} keys="c">
      {t("knowledge.make")}
    </Button>
  );
  return (
    <KnowledgeFrame actions={button}>
      {kbs.isError && <ErrorNotice error={kbs.error} onRetry={() => void kbs.refetch()} />}
      {kbs.data?.length === 0 ? (
        <EmptyState icon={BookOpen} title={t("knowledge.none")} text={t("knowledge.noneText")}>
          {button}
        </EmptyState>
      ) : (
        <ul className="grid gap-4 sm:grid-cols-2 xl:grid-cols-3" aria-busy={kbs.isPending}>
          {kbs.isPending &&
            [0, 1, 2].map((position) => (
              <li key={position}>
                <Skeleton className="h-28 w-full rounded-xl" />
              </li>
            ))}
          {kbs.data?.map((kb) => (
            <Card key={kb.id} kb={kb} />
          ))}
        </ul>
      )}
      {isMaking && (
        <NameDialog
          title={t("knowledge.make")}
          action={t("knowledge.makeNow")}
          save={make}
          onClose={() => setMaking(false)}
        />
      )}
    </KnowledgeFrame>
  );
}
