import { useState } from "react";
import { useQuery } from "@tanstack/react-query";
import { linkOptions, useNavigate } from "@tanstack/react-router";
import { Bot, Plus } from "lucide-react";
import type { Agent } from "@svc/contracts";
import { agentsQuery } from "../api/administration.ts";
import { FormDialog, useFields } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useCommands, useProject, useRights } from "../session/services.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Field, TextArea } from "../ui/field.tsx";
import { Notice, EmptyState, ErrorNotice, Skeleton } from "../ui/notice.tsx";
import { LinkCard, PageFrame } from "../ui/page-frame.tsx";

/** Asks for the name and the purpose of a new agent. */
function NewAgentDialog({
  make,
  onClose,
}: {
  make: (input: { name: string; description: string }) => Promise<void>;
  onClose: () => void;
}) {
  const { t } = useTexts();
  const { values, field } = useFields({ name: "", description: "" });
  return (
    <FormDialog
      title={t("agents.make")}
      action={t("agents.makeNow")}
      onSubmit={() => make({ name: values.name.trim(), description: values.description.trim() })}
      onClose={onClose}
    >
      <Field label={t("agents.name")} maxLength={200} required {...field("name")} />
      <TextArea label={t("agents.description")} hint={t("agents.descriptionHint")} rows={3} {...field("description")} />
    </FormDialog>
  );
}

function Card({ agent }: { agent: Agent }) {
  const { t, percent } = useTexts();
  const project = useProject();
  const { autoThreshold, description, enabled, examples, id, kbIds, name, reviewPolicy } = agent;
  return (
    <LinkCard
      icon={Bot}
      title={name}
      link={linkOptions({ to: "/$project/agents/$agentId", params: { project, agentId: id } })}
      text={description === "" ? t("agents.noDescription") : description}
      beside={!enabled && <Badge>{t("agents.off")}</Badge>}
    >
      <p className="mt-auto pt-3 text-xs text-muted">
        {t(`agents.policyShort.${reviewPolicy}`, { share: percent(autoThreshold) })} ·{" "}
        {t("agents.bases", { n: kbIds.length })} · {t("agents.examplesCount", { n: examples.length })}
      </p>
    </LinkCard>
  );
}

/** The agents of a project. */
export function AgentsPage() {
  const { t } = useTexts();
  const { connection, queryClient } = useServices();
  const project = useProject();
  const navigate = useNavigate();
  const mayWrite = useRights()("agents:write");
  const [isMaking, setMaking] = useState(false);
  const agents = useQuery(agentsQuery(connection, project));
  const create = { id: "new-agent", title: t("agents.make"), keys: "c", run: () => setMaking(true) };
  useCommands("page", [mayWrite && create]);

  async function make(input: { name: string; description: string }) {
    const { item } = await connection.call("createAgent", project, { body: input });
    void queryClient.invalidateQueries({ queryKey: ["agents", project] });
    await navigate({ to: "/$project/agents/$agentId", params: { project, agentId: item.id } });
  }

  const button = mayWrite && (
    <Button icon={Plus} variant="primary" onClick={create.run} keys="c">
      {t("agents.make")}
    </Button>
  );
  return (
    <PageFrame title={t("nav.agents")} text={t("agents.text")} actions={button}>
      <div className="flex flex-col gap-4">
        {!mayWrite && <Notice>{t("agents.readOnly")}</Notice>}
        {agents.isError && <ErrorNotice error={agents.error} onRetry={() => void agents.refetch()} />}
        {agents.data?.length === 0 ? (
          <EmptyState icon={Bot} title={t("agents.none")} text={t(mayWrite ? "agents.noneText" : "agents.noneRead")}>
            {button}
          </EmptyState>
        ) : (
          <ul className="grid gap-4 sm:grid-cols-2 xl:grid-cols-3" aria-busy={agents.isPending}>
            {agents.isPending &&
              [0, 1, 2].map((position) => (
                <li key={position}>
                  <Skeleton className="h-28 w-full rounded-xl" />
                </li>
              ))}
            {agents.data?.map((agent) => (
              <Card key={agent.id} agent={agent} />
            ))}
          </ul>
        )}
      </div>
      {isMaking && <NewAgentDialog make={make} onClose={() => setMaking(false)} />}
    </PageFrame>
  );
}
