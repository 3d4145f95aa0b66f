import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { linkOptions, useNavigate, useParams } from "@tanstack/react-router";
import { Ban, Merge, Pencil } from "lucide-react";
import { useState } from "react";
import type { CustomerDetail, CustomerItem } from "@svc/contracts";
import { conversationsQuery, customerQuery } from "../api/customers.ts";
import { IdText } from "../forms/copy-box.tsx";
import { useAction } from "../forms/use-action.ts";
import { useTexts } from "../i18n/texts.ts";
import { Pages, itemsOf } from "../lists/resource-page.tsx";
import { useCommands, useProject, useRights, useServices } from "../session/services.ts";
import { Avatar, Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { PageFrame, Section } from "../ui/page-frame.tsx";
import { QueryView } from "../ui/notice.tsx";
import { contactFacts } from "./contact-facts.ts";
import { BlockDialog, CustomerDialog, MergeDialog } from "./customer-dialogs.tsx";
import { Conversations, CustomerFactRows, Fact, displayName, useRefresh } from "./customer-facts.tsx";
import { CustomerNotes } from "./customer-notes.tsx";

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
