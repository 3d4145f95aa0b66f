import { Link } from "@tanstack/react-router";
import { ChevronRight, RotateCcw, Send } from "lucide-react";
import { useId, useState } from "react";
import type { DeliveryItem, DeliveryState } from "@svc/contracts";
import { useInfiniteQuery } from "@tanstack/react-query";
import { deliveryPagesQuery } from "../api/administration.ts";
import { useAction } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import { ResourcePage } from "../lists/resource-page.tsx";
import { useServices, useProject, useRights } from "../session/services.ts";
import { Ago, Badge } from "../ui/badge.tsx";
import type { Tone } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { ChoiceGroup } from "../ui/choice-fields.tsx";
import { Notice } from "../ui/notice.tsx";

const TONES = { pending: "warn", delivered: "ok", dead: "bad" } as const satisfies Record<DeliveryState, Tone>;

/** The attempts of a callback, and its ticket. */
function DeliveryDetails({ id, item: { attempts, nextAt, ticketId, type } }: { id: string; item: DeliveryItem }) {
  const { dateTime, duration, t } = useTexts();
  const project = useProject();
  return (
    <div id={id} className="mt-2 ml-6 flex flex-col gap-2 text-xs">
      {attempts.length === 0 ? (
        <p className="text-muted">{t("delivery.noTry")}</p>
      ) : (
        <ol className="divide-y divide-line rounded-lg border border-line bg-surface">
          {attempts.map(({ at, error, ms, status }, index) => (
            <li key={`${at} ${index}`} className="flex flex-wrap gap-x-3 gap-y-0.5 px-2.5 py-1.5 tabular-nums">
              <time dateTime={at}>{dateTime(at)}</time>
              <span className={error === null ? "text-ok" : "text-bad"}>
                {status === null ? t("delivery.noStatus") : t("delivery.status", { status })}
              </span>
              <span className="text-muted">{ms === null ? t("delivery.noEnd") : duration(ms)}</span>
              {error !== null && <span className="basis-full wrap-anywhere text-muted">{error}</span>}
            </li>
          ))}
        </ol>
      )}
      <p className="text-muted">{t("delivery.event", { type })}</p>
      {nextAt !== null && <p className="text-muted">{t("delivery.next", { time: dateTime(nextAt) })}</p>}
      {ticketId !== null && (
        <p>
          <Link
            to="/$project/inbox/$view/$ticketId"
            params={{ project, view: "review", ticketId }}
            className="rounded-sm font-medium text-accent hover:underline"
          >
            {t("delivery.openTicket")}
          </Link>
        </p>
      )}
    </div>
  );
}

/** A callback; opened, with its attempts. `onReplay` is null if the operator may not repeat it. */
function DeliveryRow({
  item,
  isBusy,
  onReplay,
}: {
  item: DeliveryItem;
  isBusy: boolean;
  onReplay: (() => void) | null;
}) {
  const { t } = useTexts();
  const detailsId = useId();
  const [isOpen, setOpen] = useState(false);
  const { attempts, createdAt, state, type, url } = item;
  return (
    <div>
      <div className="flex items-start gap-3">
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={isOpen ? detailsId : undefined}
          onClick={() => setOpen(!isOpen)}
          className="flex min-w-0 flex-1 items-start gap-2 rounded-md text-left"
        >
          <ChevronRight
            aria-hidden
            className={`mt-0.5 size-4 shrink-0 text-faint transition-transform ${isOpen ? "rotate-90" : ""}`}
          />
          <span className="min-w-0 flex-1">
            <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
              <span className="text-sm font-medium" title={type}>
                {t(`delivery.type.${type}`)}
              </span>
              <Badge tone={TONES[state]}>{t(`delivery.${state}`)}</Badge>
              <span className="text-xs text-muted">{t("delivery.tries", { n: attempts.length })}</span>
            </span>
            <span className="block truncate text-xs text-muted" title={url}>
              {url}
            </span>
          </span>
        </button>
        <Ago time={createdAt} className="shrink-0 pt-0.5 text-xs text-muted max-sm:hidden" />
        {onReplay !== null && (
          <Button icon={RotateCcw} size="small" isBusy={isBusy} onClick={onReplay}>
            {t(state === "pending" ? "delivery.tryNow" : "delivery.replay")}
          </Button>
        )}
      </div>
      {isOpen && <DeliveryDetails id={detailsId} item={item} />}
    </div>
  );
}

const CHOICES = ["all", "pending", "dead", "delivered"] as const satisfies readonly (DeliveryState | "all")[];

/** The callbacks of the project, with their attempts. */
export function DeliveriesSection() {
  const { t } = useTexts();
  const { connection, queryClient } = useServices();
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
      return t("delivery.replayed");
    });
    setBusyId(null);
  }

  return (
    <ResourcePage
      query={deliveries}
      label={t("administration.deliveries")}
      head={
        <>
          <p className="max-w-xl self-center text-sm text-muted">{t("delivery.text", { project })}</p>
          <ChoiceGroup
            label={t("delivery.state")}
            hidesLabel
            value={choice}
            options={CHOICES.map((value) => ({ value, label: t(`delivery.${value}`) }))}
            onChange={setChoice}
            className="self-center"
          />
        </>
      }
      filter={
        !mayReplay && (
          <div className="mb-4">
            <Notice>{t("delivery.readOnly", { project })}</Notice>
          </div>
        )
      }
      commandsOf={(item) => [
        mayReplay && {
          id: "delivery-replay",
          title: t("delivery.replay"),
          keys: "r",
          isDecision: true,
          run: () => void replay(item),
        },
      ]}
      icon={Send}
      empty={{ title: t(choice === "all" ? "delivery.none" : "delivery.noneSuch"), text: t("delivery.noneText") }}
    >
      {(item) => (
        <DeliveryRow item={item} isBusy={busyId === item.id} onReplay={mayReplay ? () => void replay(item) : null} />
      )}
    </ResourcePage>
  );
}
