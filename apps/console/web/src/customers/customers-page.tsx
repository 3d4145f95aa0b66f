import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Users } from "lucide-react";
import { useDeferredValue, useState } from "react";
import type { CustomerItem } from "@svc/contracts";
import { customerPagesQuery } from "../api/tickets.ts";
import { useTexts } from "../i18n/texts.ts";
import { ResourcePage } from "../lists/resource-page.tsx";
import { useProject, useServices } from "../session/services.ts";
import { Ago, Avatar, Badge } from "../ui/badge.tsx";
import { Field } from "../ui/field.tsx";
import { PageFrame } from "../ui/page-frame.tsx";
import { displayName } from "./customer-facts.tsx";

function CustomerRow({ customer }: { customer: CustomerItem }) {
  const { t } = useTexts();
  const project = useProject();
  const { email, id, isBlocked, lastSeenAt, phone } = customer;
  const name = displayName(customer);
  const facts = [email, phone].filter((fact) => fact !== null && fact !== name);
  return (
    <Link
      to="/$project/customers/$customerId"
      params={{ project, customerId: id }}
      tabIndex={0}
      className="flex items-center gap-3 rounded-md"
    >
      <Avatar name={name} />
      <span className="min-w-0 flex-1">
        <bdi className="block truncate text-sm font-medium">{name}</bdi>
        {facts.length > 0 && <bdi className="block truncate text-xs text-muted">{facts.join(" · ")}</bdi>}
      </span>
      {isBlocked && <Badge tone="bad">{t("customer.blocked")}</Badge>}
      <Ago time={lastSeenAt} className="shrink-0 text-xs text-faint tabular-nums" />
    </Link>
  );
}

/** The customers of the project, with a search. */
export function CustomersPage() {
  const { t } = useTexts();
  const { connection } = useServices();
  const navigate = useNavigate();
  const project = useProject();
  const [words, setWords] = useState("");
  const q = useDeferredValue(words.trim());
  const query = useInfiniteQuery({ ...customerPagesQuery(connection, project, q), placeholderData: keepPreviousData });
  return (
    <PageFrame title={t("nav.customers")} text={t("customers.text")} width="narrow">
      <ResourcePage
        query={query}
        label={t("nav.customers")}
        filter={
          <Field
            label={t("customers.find")}
            type="search"
            maxLength={200}
            value={words}
            onChange={setWords}
            className="mb-4 max-w-sm"
          />
        }
        icon={Users}
        empty={{
          title: t(q === "" ? "customers.none" : "customers.noMatch"),
          text: t(q === "" ? "customers.noneText" : "customers.noMatchText"),
          isFiltered: q !== "",
        }}
        commandsOf={({ id }) => [
          {
            id: "open-customer",
            title: t("customers.open"),
            keys: "o",
            run: () => void navigate({ to: "/$project/customers/$customerId", params: { project, customerId: id } }),
          },
        ]}
      >
        {(customer) => <CustomerRow customer={customer} />}
      </ResourcePage>
    </PageFrame>
  );
}
