import { useState } from "react";
import type { ReactNode } from "react";
import { CHANNEL_IDS } from "@svc/contracts";
import type { ChannelId, EventType, TicketPriority, WebhookItem } from "@svc/contracts";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { FlaskConical, Pencil, RefreshCw, Trash2, Webhook } from "lucide-react";
import { agentsQuery, filterOf, waitForResult, webhookPagesQuery } from "../api/administration.ts";
import { FormDialog, useFields } from "../forms/form-dialog.tsx";
import { useAction } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import { ResourcePage, ShownOnceDialog } from "../lists/resource-page.tsx";
import { useProject, useRights, useServices } from "../session/services.ts";
import { Badge } from "../ui/badge.tsx";
import { IconButton } from "../ui/button.tsx";
import { CheckBox, Switch } from "../ui/choice-fields.tsx";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { Field, SelectField } from "../ui/field.tsx";
import { Notice } from "../ui/notice.tsx";

/** Copied from WEBHOOK_LIMITS of the contracts; the server checks them. */
const DESCRIPTION_MAX_CHARS = 200;
const URL_MAX_CHARS = 2_048;

const EVENTS = [
  "ticket.created",
  "ticket.needs_review",
  "ticket.assigned",
  "ticket.replied",
  "ticket.resolved",
  "ticket.reopened",
  "ticket.rated",
  "ticket.sla_breached",
  "ticket.snoozed",
  "gap.found",
  "customer.updated",
] as const satisfies readonly EventType[];
const PRIORITIES = ["low", "normal", "high", "urgent"] as const satisfies readonly TicketPriority[];

const HOUR_SECONDS = 3_600;
/** Choices for how long the previous secret also signs. */
const OVERLAPS = [0, HOUR_SECONDS, 24 * HOUR_SECONDS, 7 * 24 * HOUR_SECONDS] as const;

/** Check boxes for any number of choices. */
function ChoicesField<Value extends string>({
  label,
  options,
  chosen,
  onChange,
}: {
  label: string;
  options: readonly { value: Value; label: ReactNode }[];
  chosen: readonly Value[];
  onChange: (chosen: Value[]) => void;
}) {
  return (
    <fieldset>
      <legend className="mb-2 text-sm font-medium">{label}</legend>
      <div className="flex flex-wrap gap-x-5 gap-y-2">
        {options.map(({ value, label: name }) => (
          <div key={value} className="min-w-40">
            <CheckBox
              label={name}
              isOn={chosen.includes(value)}
              onChange={(isOn) => onChange(isOn ? [...chosen, value] : chosen.filter((other) => other !== value))}
            />
          </div>
        ))}
      </div>
    </fieldset>
  );
}

/** The filters of a webhook; the agents are those of the project. */
function FilterFields({
  channels,
  agentIds,
  priorities,
}: {
  channels: [ChannelId[], (chosen: ChannelId[]) => void];
  agentIds: [string[], (chosen: string[]) => void];
  priorities: [TicketPriority[], (chosen: TicketPriority[]) => void];
}) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const { data: agents = [] } = useQuery({ ...agentsQuery(connection, project), enabled: useRights()("agents:read") });
  return (
    <>
      <p className="text-sm text-muted">{t("webhooks.filters")}</p>
      <ChoicesField
        label={t("webhooks.channels")}
        options={CHANNEL_IDS.map((value) => ({ value, label: t(`channel.${value}`) }))}
        chosen={channels[0]}
        onChange={channels[1]}
      />
      <ChoicesField
        label={t("webhooks.priorities")}
        options={PRIORITIES.map((value) => ({ value, label: t(`priority.${value}`) }))}
        chosen={priorities[0]}
        onChange={priorities[1]}
      />
      {agents.length > 0 && (
        <ChoicesField
          label={t("webhooks.agents")}
          options={agents.map(({ id, name }) => ({ value: id, label: <span dir="auto">{name}</span> }))}
          chosen={agentIds[0]}
          onChange={agentIds[1]}
        />
      )}
    </>
  );
}

/** The form of a new webhook, or of the given one. `onSaved` receives the secret of a new one. */
function useWebhookForm(item: WebhookItem | null, onSaved: (secret: string | null) => void) {
  const { connection } = useServices();
  const project = useProject();
  const { data: agents = [] } = useQuery({ ...agentsQuery(connection, project), enabled: useRights()("agents:read") });
  const { values, field } = useFields({ url: item?.url ?? "", description: item?.description ?? "" });
  const events = useState<EventType[]>(item?.events ?? ["ticket.created"]);
  const active = useState(item?.isActive ?? true);
  const channels = useState<ChannelId[]>(item?.channels ?? []);
  const agentIds = useState<string[]>(item?.agentIds ?? []);
  const priorities = useState<TicketPriority[]>(item?.priorities ?? []);

  async function submit() {
    const body = {
      url: values.url.trim(),
      description: values.description.trim(),
      events: events[0],
      channels: filterOf(channels[0], CHANNEL_IDS),
      agentIds: filterOf(
        agentIds[0],
        agents.map(({ id }) => id),
      ),
      priorities: filterOf(priorities[0], PRIORITIES),
      isActive: active[0],
    };
    if (item === null) {
      onSaved((await connection.call("createWebhook", project, { body })).item.secret);
      return;
    }
    await connection.call("updateWebhook", project, { params: { id: item.id }, body, ifMatch: item.version });
    onSaved(null);
  }
  return { field, events, active, filters: { channels, agentIds, priorities }, submit };
}

/** Creates a webhook, or changes the given one. */
function WebhookDialog({
  item,
  onSaved,
  onClose,
}: {
  item: WebhookItem | null;
  onSaved: (secret: string | null) => void;
  onClose: () => void;
}) {
  const { t } = useTexts();
  const { field, events, active, filters, submit } = useWebhookForm(item, onSaved);
  return (
    <FormDialog
      title={t(item === null ? "webhooks.make" : "webhooks.change")}
      width="wide"
      action={t("ui.save")}
      isDisabled={events[0].length === 0}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field
        label={t("webhooks.url")}
        hint={t("webhooks.urlHint")}
        type="url"
        maxLength={URL_MAX_CHARS}
        required
        {...field("url")}
      />
      <Field label={t("webhooks.description")} maxLength={DESCRIPTION_MAX_CHARS} {...field("description")} />
      <ChoicesField
        label={t("webhooks.events")}
        options={EVENTS.map((value) => ({ value, label: <span title={value}>{t(`delivery.type.${value}`)}</span> }))}
        chosen={events[0]}
        onChange={events[1]}
      />
      <FilterFields {...filters} />
      <Switch label={t("webhooks.active")} hint={t("webhooks.activeHint")} isOn={active[0]} onChange={active[1]} />
    </FormDialog>
  );
}

/** Replaces the secret of a webhook. */
function RotateDialog({
  item,
  onSaved,
  onClose,
}: {
  item: WebhookItem;
  onSaved: (secret: string) => void;
  onClose: () => void;
}) {
  const { duration, t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const { values, field } = useFields({ overlap: String(24 * HOUR_SECONDS) });

  async function rotate() {
    const body = { overlapSeconds: Number(values.overlap) };
    onSaved((await connection.call("rotateWebhookSecret", project, { params: { id: item.id }, body })).item.secret);
  }

  return (
    <FormDialog
      title={t("webhooks.rotate")}
      width="small"
      action={t("adminKeys.rotateNow")}
      onSubmit={rotate}
      onClose={onClose}
    >
      <p className="text-sm">{t("webhooks.rotateText")}</p>
      <SelectField
        label={t("webhooks.overlap")}
        options={OVERLAPS.map((seconds) => ({
          value: String(seconds),
          label: seconds === 0 ? t("webhooks.overlapNone") : duration(seconds * 1_000),
        }))}
        {...field("overlap")}
      />
    </FormDialog>
  );
}

/** Actions for a webhook. */
interface WebhookActions {
  test: () => void;
  change: () => void;
  rotate: () => void;
  remove: () => void;
}

function WebhookRow({ item, actions }: { item: WebhookItem; actions: WebhookActions | null }) {
  const { dateTime, t } = useTexts();
  const { description, events, isActive, previousSecretUntil, url } = item;
  return (
    <div className="flex items-start gap-3">
      <Webhook aria-hidden className="mt-0.5 size-4 shrink-0 text-faint max-sm:hidden" />
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="truncate text-sm font-medium" dir="auto">
            {description === "" ? new URL(url).host : description}
          </span>
          {!isActive && <Badge tone="warn">{t("webhooks.inactive")}</Badge>}
        </p>
        <p className="truncate text-xs text-muted" title={url}>
          {url}
        </p>
        <p className="text-xs wrap-anywhere text-muted">
          {events.map((type) => t(`delivery.type.${type}`)).join(", ")}
        </p>
        {previousSecretUntil !== null && (
          <p className="text-xs text-muted">{t("webhooks.previous", { time: dateTime(previousSecretUntil) })}</p>
        )}
      </div>
      {actions !== null && (
        <>
          <IconButton icon={FlaskConical} label={t("webhooks.test")} onClick={actions.test} />
          <IconButton icon={Pencil} label={t("webhooks.change")} onClick={actions.change} />
          <IconButton icon={RefreshCw} label={t("webhooks.rotate")} onClick={actions.rotate} />
          <IconButton icon={Trash2} label={t("webhooks.delete")} onClick={actions.remove} />
        </>
      )}
    </div>
  );
}

/** The dialog that is open. */
type Open =
  | { kind: "edit"; item: WebhookItem | null }
  | { kind: "show"; secret: string }
  | { kind: "rotate" | "remove"; item: WebhookItem }
  | null;

/** The open dialog, if there is one. */
function OpenDialog({
  open,
  onSaved,
  onRemove,
  onClose,
}: {
  open: Open;
  onSaved: (secret: string | null) => void;
  onRemove: (item: WebhookItem) => Promise<void>;
  onClose: () => void;
}) {
  const { t } = useTexts();
  return (
    <>
      {open?.kind === "edit" && <WebhookDialog item={open.item} onSaved={onSaved} onClose={onClose} />}
      {open?.kind === "rotate" && <RotateDialog item={open.item} onSaved={onSaved} onClose={onClose} />}
      {open?.kind === "show" && (
        <ShownOnceDialog
          title={t("webhooks.secretTitle")}
          warning={t("webhooks.once")}
          label={t("webhooks.secret")}
          secret={open.secret}
          onClose={onClose}
        />
      )}
      {open?.kind === "remove" && (
        <ConfirmDialog
          title={t("webhooks.delete")}
          action={t("webhooks.deleteNow")}
          onConfirm={() => onRemove(open.item)}
          onClose={onClose}
        >
          {t("webhooks.deleteText")}
        </ConfirmDialog>
      )}
    </>
  );
}

/** Actions for webhooks without a form. */
function useWebhookActions() {
  const { t } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const project = useProject();
  const navigate = useNavigate();
  const { runAside } = useAction();
  // A test takes some seconds, in which other actions go on.
  const { runAside: runTest } = useAction();

  const test = ({ id }: WebhookItem) =>
    runTest(async () => {
      const { item } = await connection.call("testWebhook", project, { params: { id } });
      const read = async () => (await connection.call("getDelivery", project, { params: { id: item.id } })).item;
      const attempt = await waitForResult(read);
      await queryClient.invalidateQueries({ queryKey: ["deliveries", project] });
      const section = { to: "/$project/administration/$section", params: { project, section: "deliveries" } } as const;
      const key = attempt === null ? "tested" : attempt.error === null ? "testDelivered" : "testFailed";
      toasts.show({
        kind: attempt?.error == null ? "done" : "error",
        text: t(`webhooks.${key}`, { error: attempt?.error ?? "" }),
        action: { label: t("administration.deliveries"), run: () => void navigate(section) },
      });
    });

  const remove = ({ id, version }: WebhookItem) =>
    runAside(async () => {
      await connection.call("deleteWebhook", project, { params: { id }, ifMatch: version });
      await queryClient.invalidateQueries({ queryKey: ["webhooks", project] });
      return t("webhooks.deleted");
    });
  return { test, remove };
}

/** The webhooks of the project. */
export function WebhooksSection() {
  const { t } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const project = useProject();
  const mayDo = useRights();
  const mayWrite = mayDo("webhooks:write") && mayDo("tickets:read");
  const [open, setOpen] = useState<Open>(null);
  const { test, remove } = useWebhookActions();
  const webhooks = useInfiniteQuery(webhookPagesQuery(connection, project));

  function onSaved(secret: string | null) {
    void queryClient.invalidateQueries({ queryKey: ["webhooks", project] });
    setOpen(secret === null ? null : { kind: "show", secret });
    if (secret === null) toasts.show({ kind: "done", text: t("webhooks.saved") });
  }

  const actionsOf = (item: WebhookItem): WebhookActions => ({
    test: () => void test(item),
    change: () => setOpen({ kind: "edit", item }),
    rotate: () => setOpen({ kind: "rotate", item }),
    remove: () => setOpen({ kind: "remove", item }),
  });
  const create = { id: "new-webhook", title: t("webhooks.make"), run: () => setOpen({ kind: "edit", item: null }) };

  return (
    <>
      <ResourcePage
        query={webhooks}
        label={t("administration.webhooks")}
        head={t("webhooks.text", { project })}
        filter={
          !mayWrite && (
            <div className="mb-4">
              <Notice>{t("webhooks.readOnly", { project })}</Notice>
            </div>
          )
        }
        create={mayWrite ? create : undefined}
        icon={Webhook}
        empty={{ title: t("webhooks.none"), text: t("webhooks.noneText") }}
      >
        {(item) => <WebhookRow item={item} actions={mayWrite ? actionsOf(item) : null} />}
      </ResourcePage>
      <OpenDialog
        open={open}
        onSaved={onSaved}
        onRemove={async (item) => {
          await remove(item);
          setOpen(null);
        }}
        onClose={() => setOpen(null)}
      />
    </>
  );
}
