import { useInfiniteQuery } from "@tanstack/react-query";
import { Send } from "lucide-react";
import { useState } from "react";
import type { DeliveryItem, DeliveryState } from "@svc/contracts";
import { deliveryPagesQuery } from "../api/administration.ts";
import { useServices } from "../app/services.ts";
import { useProject, useRights } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { ChoiceGroup } from "../ui/choice-group.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { Notice } from "../ui/notice.tsx";
import { DeliveryRow } from "./delivery-row.tsx";
import { PagedList } from "./paged-list.tsx";
import { useAction } from "./use-action.ts";

const CHOICES = ["all", "pending", "dead", "delivered"] as const satisfies readonly (DeliveryState | "all")[];

/** The callbacks of the project, with what became of them. */
export function DeliveriesSection() {
  const { t } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const project = useProject();
  const mayReplay = useRights()("webhooks:write");
  const [choice, setChoice] = useState<DeliveryState | "all">("all");
  const [busyId, setBusyId] = useState<string | null>(null);
  const { runAside } = useAction();
  const deliveries = useInfiniteQuery(deliveryPagesQuery(connection, project, choice === "all" ? null : choice));

  async function replay({ id }: DeliveryItem) {
    setBusyId(id);
    await runAside(async () => {
      await connection.call("replayDelivery", project, { params: { id } });
      await queryClient.invalidateQueries({ queryKey: ["deliveries", project] });
      toasts.show({ kind: "done", text: t("delivery.replayed") });
    });
    setBusyId(null);
  }

  return (
    <>
      <div className="mb-4 flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-xl text-sm text-muted">{t("delivery.text", { project })}</p>
        <ChoiceGroup
          label={t("delivery.state")}
          hidesLabel
          value={choice}
          options={CHOICES.map((value) => ({ value, label: t(`delivery.${value}`) }))}
          onChange={setChoice}
        />
      </div>
      {!mayReplay && (
        <div className="mb-4">
          <Notice>{t("delivery.readOnly", { project })}</Notice>
        </div>
      )}
      <PagedList
        query={deliveries}
        label={t("administration.deliveries")}
        commandsOf={(item) =>
          mayReplay
            ? [
                {
                  id: "delivery-replay",
                  title: t("delivery.replay"),
                  group: "page",
                  keys: "r",
                  isDecision: true,
                  run: () => void replay(item),
                },
              ]
            : []
        }
        empty={
          <EmptyState
            icon={Send}
            title={t(choice === "all" ? "delivery.none" : "delivery.noneSuch")}
            text={t("delivery.noneText")}
          />
        }
      >
        {(item) => (
          <DeliveryRow item={item} isBusy={busyId === item.id} onReplay={mayReplay ? () => void replay(item) : null} />
        )}
      </PagedList>
    </>
  );
}
