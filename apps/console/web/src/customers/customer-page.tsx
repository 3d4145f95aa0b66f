import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { linkOptions, useNavigate, useParams } from "@tanstack/react-router";
import { Ban, Merge, Pencil } from "lucide-react";
import { useDeferredValue, useState } from "react";
import type { CustomerChange, CustomerDetail, CustomerItem } from "@svc/contracts";
import { conversationsQuery, customerPagesQuery, customerQuery } from "../api/tickets.ts";
import { IdText } from "../forms/copy-box.tsx";
import { FormDialog, useFields } from "../forms/form-dialog.tsx";
import { useAction } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import { itemsOf, Pages } from "../lists/resource-page.tsx";
import { useCommands, useProject, useRights, useServices } from "../session/services.ts";
import { Avatar, Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { CheckBox, ChoiceGroup } from "../ui/choice-fields.tsx";
import { Field, TextArea } from "../ui/field.tsx";
import { QueryView } from "../ui/notice.tsx";
import { PageFrame, Section } from "../ui/page-frame.tsx";
import { attributesOf, attributesText, contactFacts, describeCustomer } from "./contact-facts.ts";
import { Conversations, CustomerFactRows, CustomerNotes, displayName, Fact, useRefresh } from "./customer-facts.tsx";

const FACTS = ["name", "email", "phone", "language", "timeZone", "externalId"] as const;

/** Edits the data of a customer. */
function CustomerDialog({ customer, onClose }: { customer: CustomerItem; onClose: () => void }) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const refresh = useRefresh();
  const before = attributesText(customer.attributes);
  const { values, field } = useFields({
    name: customer.name ?? "",
    email: customer.email ?? "",
    phone: customer.phone ?? "",
    language: customer.language ?? "",
    timeZone: customer.timeZone ?? "",
    externalId: customer.externalId ?? "",
    attributes: before,
  });
  const isUnsubscribed = customer.unsubscribedAt !== null;
  const [unsubscribed, setUnsubscribed] = useState(isUnsubscribed);

  async function submit() {
    const attributes = attributesOf(values.attributes, customer.attributes);
    const body: CustomerChange = values.attributes === before ? {} : { attributes };
    for (const fact of FACTS) {
      const value = values[fact].trim() === "" ? null : values[fact].trim();
      if (value !== customer[fact]) body[fact] = value;
    }
    if (unsubscribed !== isUnsubscribed) body.unsubscribed = unsubscribed;
    const params = { id: customer.id };
    await connection.call("updateCustomer", project, { params, body, ifMatch: customer.version });
    refresh();
    onClose();
  }

  return (
    <FormDialog title={t("customer.edit")} width="wide" action={t("ui.save")} onSubmit={submit} onClose={onClose}>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label={t("details.name")} maxLength={100} placeholder={customer.alias} {...field("name")} />
        <Field label={t("details.email")} type="email" maxLength={254} {...field("email")} />
        <Field label={t("customer.phone")} type="tel" maxLength={40} {...field("phone")} />
        <Field label={t("customer.externalId")} maxLength={200} {...field("externalId")} />
        <Field label={t("customer.languageCode")} maxLength={2} placeholder="en" {...field("language")} />
        <Field label={t("customer.timeZone")} maxLength={60} placeholder="Europe/Berlin" {...field("timeZone")} />
      </div>
      <TextArea
        label={t("customer.attributes")}
        hint={t("customer.attributesHint")}
        rows={4}
        {...field("attributes")}
      />
      <CheckBox
        label={t("customer.noEmails")}
        hint={t("customer.noEmailsHint")}
        isOn={unsubscribed}
        onChange={setUnsubscribed}
      />
    </FormDialog>
  );
}

/** Merges another customer into this one, with a search. */
function MergeDialog({ customer, onClose }: { customer: CustomerItem; onClose: () => void }) {
  const { t } = useTexts();
  const { connection, toasts } = useServices();
  const project = useProject();
  const refresh = useRefresh();
  const [words, setWords] = useState("");
  const [chosen, setChosen] = useState("");
  const q = useDeferredValue(words.trim());
  const query = useInfiniteQuery({ ...customerPagesQuery(connection, project, q), placeholderData: keepPreviousData });
  const others = itemsOf(query)
    .filter(({ id }) => id !== customer.id)
    .slice(0, 8);
  const isShown = others.some(({ id }) => id === chosen);

  async function submit() {
    const params = { id: customer.id };
    await connection.call("mergeCustomer", project, { params, body: { customerId: chosen } });
    const from = others.find(({ id }) => id === chosen);
    const names = { from: from === undefined ? "" : displayName(from), into: displayName(customer) };
    toasts.show({ kind: "done", text: t("customer.merged", names) });
    refresh();
    onClose();
  }

  return (
    <FormDialog
      title={t("customer.mergeInto", { name: displayName(customer) })}
      action={t("customer.merge")}
      variant="danger"
      isDisabled={!isShown}
      onSubmit={submit}
      onClose={onClose}
    >
      <p className="text-sm text-muted">{t("customer.mergeText")}</p>
      <Field label={t("customers.find")} type="search" maxLength={200} value={words} onChange={setWords} />
      {others.length === 0 ? (
        <p className="text-sm text-muted">{t("customers.noMatch")}</p>
      ) : (
        <ChoiceGroup
          label={t("customer.mergeFrom")}
          value={chosen}
          onChange={setChosen}
          options={others.map((other) => ({
            value: other.id,
            label: displayName(other),
            hint:
              displayName(other) === other.alias ? t("customer.alias") : describeCustomer(other, displayName(other)),
          }))}
        />
      )}
    </FormDialog>
  );
}

/** Asks before a customer is blocked. */
function BlockDialog({ customer, onClose }: { customer: CustomerItem; onClose: () => void }) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const refresh = useRefresh();

  async function submit() {
    await connection.call("blockCustomer", project, { params: { id: customer.id } });
    refresh();
    onClose();
  }

  return (
    <FormDialog
      title={t("customer.blockTitle", { name: displayName(customer) })}
      action={t("customer.block")}
      variant="danger"
      onSubmit={submit}
      onClose={onClose}
    >
      <p className="text-sm text-muted">{t("customer.blockText")}</p>
    </FormDialog>
  );
}

function ConversationSection({ customerId }: { customerId: string }) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const query = useInfiniteQuery(conversationsQuery(connection, project, customerId, 50));
  return (
    <Section title={t("customer.allConversations")}>
      <Pages
        query={query}
        skeleton="h-7 w-full"
        empty={<p className="text-sm text-muted">{t("customer.noTickets")}</p>}
      >
        <Conversations tickets={itemsOf(query)} />
      </Pages>
    </Section>
  );
}

function FactSection({ customer }: { customer: CustomerItem }) {
  const { t } = useTexts();
  const { alias, name } = customer;
  return (
    <Section title={t("details.facts")}>
      <dl>
        {name !== null && <Fact label={t("details.name")}>{name}</Fact>}
        {name === null && <Fact label={t("customer.alias")}>{alias}</Fact>}
        {contactFacts(customer).map(({ label, value }) => (
          <Fact key={value} label={t(label)}>
            <IdText label={t(label)} text={value} />
          </Fact>
        ))}
        <CustomerFactRows customer={customer} />
      </dl>
    </Section>
  );
}

/** Returns a function that ends the block of a customer, and whether it is running. */
function useUnblock({ id }: CustomerItem, name: string) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const refresh = useRefresh();
  const { isBusy, runAside } = useAction();
  const unblock = () =>
    void runAside(async () => {
      await connection.call("unblockCustomer", project, { params: { id } });
      refresh();
      return t("customer.unblocked", { name });
    });
  return { unblock, isBusy };
}

type CustomerDialogName = "edit" | "merge" | "block";

/** Actions for a customer, as commands and as buttons of its page. */
function useCustomerActions(customer: CustomerDetail, openDialog: (dialog: CustomerDialogName) => void) {
  const { t } = useTexts();
  const navigate = useNavigate();
  const project = useProject();
  const mayWrite = useRights()("tickets:write");
  const { unblock, isBusy } = useUnblock(customer, displayName(customer));
  const { isBlocked } = customer;
  const edit = () => openDialog("edit");
  const merge = () => openDialog("merge");
  const toggleBlock = isBlocked ? unblock : () => openDialog("block");
  const blockTitle = t(isBlocked ? "customer.unblock" : "customer.block");
  useCommands("page", [
    mayWrite && { id: "edit-customer", title: t("customer.edit"), keys: "e", run: edit },
    mayWrite && { id: "merge-customer", title: t("customer.merge"), keys: "m", run: merge },
    mayWrite && { id: "block-customer", title: blockTitle, keys: "!", run: toggleBlock },
    {
      id: "all-customers",
      title: t("customer.back"),
      keys: "u",
      run: () => void navigate({ to: "/$project/customers", params: { project } }),
    },
  ]);
  return (
    mayWrite && (
      <>
        <Button icon={Pencil} keys="e" onClick={edit}>
          {t("customer.edit")}
        </Button>
        <Button icon={Merge} keys="m" onClick={merge}>
          {t("customer.merge")}
        </Button>
        <Button icon={Ban} keys="!" isBusy={isBusy} onClick={toggleBlock}>
          {blockTitle}
        </Button>
      </>
    )
  );
}

function CustomerView({ customer }: { customer: CustomerDetail }) {
  const { t } = useTexts();
  const project = useProject();
  const [dialog, setDialog] = useState<CustomerDialogName | null>(null);
  const actions = useCustomerActions(customer, setDialog);
  const close = () => setDialog(null);
  const name = displayName(customer);
  return (
    <PageFrame
      windowTitle={name}
      title={
        <span className="flex items-center gap-3">
          <Avatar name={name} size="large" />
          <bdi>{name}</bdi>
          {customer.isBlocked && <Badge tone="bad">{t("customer.blocked")}</Badge>}
        </span>
      }
      back={{ link: linkOptions({ to: "/$project/customers", params: { project } }), label: t("nav.customers") }}
      actions={actions}
    >
      <div className="grid items-start gap-4 lg:grid-cols-[20rem_minmax(0,1fr)]">
        <FactSection customer={customer} />
        <div className="grid gap-4">
          <Section title={t("customer.notes")}>
            <CustomerNotes customer={customer} />
          </Section>
          <ConversationSection customerId={customer.id} />
        </div>
      </div>
      {dialog === "edit" && <CustomerDialog customer={customer} onClose={close} />}
      {dialog === "merge" && <MergeDialog customer={customer} onClose={close} />}
      {dialog === "block" && <BlockDialog customer={customer} onClose={close} />}
    </PageFrame>
  );
}

/** A customer: data, operators' notes, and all conversations. */
export function CustomerPage() {
  const { connection } = useServices();
  const project = useProject();
  const { customerId } = useParams({ from: "/$project/customers/$customerId" });
  const query = useQuery(customerQuery(connection, project, customerId));
  return (
    <QueryView query={query} skeleton="m-8 h-64">
      {(customer) => <CustomerView customer={customer} />}
    </QueryView>
  );
}
