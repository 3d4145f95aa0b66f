import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import type { CustomerChange, CustomerItem } from "@svc/contracts";
import { customerPagesQuery } from "../api/customers.ts";
import { FormDialog, useFields } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import { itemsOf } from "../lists/resource-page.tsx";
import { useProject, useServices } from "../session/services.ts";
import { CheckBox, ChoiceGroup } from "../ui/choice-fields.tsx";
import { Field, TextArea } from "../ui/field.tsx";
import { describeCustomer, attributesOf, attributesText } from "./contact-facts.ts";
import { displayName, useRefresh } from "./customer-facts.tsx";

const FACTS = ["name", "email", "phone", "language", "timeZone", "externalId"] as const;

/** Edits the data of a customer. */
export function CustomerDialog({ customer, onClose }: { customer: CustomerItem; onClose: () => void }) {
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
export function MergeDialog({ customer, onClose }: { customer: CustomerItem; onClose: () => void }) {
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
export function BlockDialog({ customer, onClose }: { customer: CustomerItem; onClose: () => void }) {
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
