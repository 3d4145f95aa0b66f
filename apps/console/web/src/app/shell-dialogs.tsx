import { Command as CommandList } from "cmdk";
import { Search, AtSign } from "lucide-react";
import { useState, useEffect } from "react";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import type { Mention } from "@svc/contracts";
import { displayName } from "../customers/customer-facts.tsx";
import { useTexts } from "../i18n/texts.ts";
import { customerName } from "../inbox/describe-ticket.ts";
import { GROUP_TITLES } from "../session/command-registry.ts";
import type { CommandGroup } from "../session/command-registry.ts";
import { useServices, usePeople, useProject, useRights } from "../session/services.ts";
import { Ago } from "../ui/badge.tsx";
import { Kbd } from "../ui/button.tsx";
import { TICKET_KEYS } from "../ticket/use-ticket-actions.ts";
import { Dialog } from "../ui/dialog.tsx";
import { EmptyState } from "../ui/notice.tsx";

const GROUPS = Object.keys(GROUP_TITLES) as CommandGroup[];

const GROUP_STYLE =
  "[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:py-1.5 [&_[cmdk-group-heading]]:text-2xs [&_[cmdk-group-heading]]:font-semibold [&_[cmdk-group-heading]]:text-faint";
const ITEM_STYLE = "flex h-9 cursor-pointer items-center gap-2 rounded-md px-2.5 text-sm data-[selected=true]:bg-hover";

/** Pause in typing after which tickets and customers are searched, in milliseconds. */
const SEARCH_MS = 250;
/** Most texts of two letters begin a command. */
const SEARCH_MIN_CHARS = 3;
/** Maximum number of shown tickets, and of shown customers. */
const FOUND_MAX = 5;

/** A ticket or a customer that the palette has found. */
interface Found {
  id: string;
  title: string;
  hint: string;
  open: () => void;
}

/** Returns the tickets and the customers with these words; none during typing. */
function useFound(words: string): { tickets: Found[]; customers: Found[]; isLoading: boolean } {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const navigate = useNavigate();
  const mayRead = useRights()("tickets:read");
  const [q, setQ] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setQ(words), SEARCH_MS);
    return () => clearTimeout(timer);
  }, [words]);
  const { data, isFetching } = useQuery({
    queryKey: ["palette", project, q],
    enabled: mayRead && q.length >= SEARCH_MIN_CHARS,
    queryFn: async ({ signal }) => {
      const input = { query: { q, limit: FOUND_MAX }, signal };
      const [tickets, customers] = await Promise.all([
        connection.call("listTickets", project, input),
        connection.call("listCustomers", project, input),
      ]);
      return { tickets: tickets.items, customers: customers.items };
    },
  });
  const isSearched = mayRead && words.length >= SEARCH_MIN_CHARS;
  const found = isSearched ? data : undefined;
  return {
    isLoading: isSearched && (isFetching || q !== words),
    tickets: (found?.tickets ?? []).map((ticket) => ({
      id: ticket.id,
      title: ticket.subject === "" ? t("ticket.noSubject") : ticket.subject,
      hint: customerName(ticket, t),
      open: () =>
        void navigate({ to: "/$project/inbox/$view/$ticketId", params: { project, view: "all", ticketId: ticket.id } }),
    })),
    customers: (found?.customers ?? []).map((customer) => ({
      id: customer.id,
      title: displayName(customer),
      hint: customer.email ?? "",
      open: () =>
        void navigate({ to: "/$project/customers/$customerId", params: { project, customerId: customer.id } }),
    })),
  };
}

/** Found tickets or customers; the server has matched them, so the palette's own filter is off. */
function FoundGroup({ heading, items, onClose }: { heading: string; items: readonly Found[]; onClose: () => void }) {
  return (
    <CommandList.Group heading={heading} forceMount className={GROUP_STYLE}>
      {items.map(({ hint, id, open, title }) => (
        <CommandList.Item
          key={id}
          value={id}
          forceMount
          onSelect={() => {
            onClose();
            open();
          }}
          className={ITEM_STYLE}
        >
          <bdi className="min-w-0 flex-1 truncate">{title}</bdi>
          <bdi className="max-w-40 shrink-0 truncate text-xs text-muted">{hint}</bdi>
        </CommandList.Item>
      ))}
    </CommandList.Group>
  );
}

/** All available commands, with a search that also finds tickets and customers. */
export function CommandPalette({ onClose }: { onClose: () => void }) {
  const { t } = useTexts();
  const { commands: registry } = useServices();
  const [commands] = useState(() => registry.list().filter(({ id }) => id !== "palette"));
  const [typed, setTyped] = useState("");
  const { customers, isLoading, tickets } = useFound(typed.trim());
  const found = [
    { group: "tickets", heading: t("command.tickets"), items: tickets },
    { group: "customers", heading: t("nav.customers"), items: customers },
  ].filter(({ items }) => items.length > 0);
  return (
    <Dialog title={t("command.palette")} hidesTitle onClose={onClose}>
      <CommandList label={t("command.palette")} loop>
        <div className="flex items-center gap-2.5 border-b border-line px-4">
          <Search aria-hidden className="size-4 shrink-0 text-faint" />
          <CommandList.Input
            autoFocus
            value={typed}
            onValueChange={setTyped}
            placeholder={t("command.placeholder")}
            className="h-12 w-full bg-transparent text-base outline-none"
          />
        </div>
        <CommandList.List className="h-[min(24rem,60vh)] overflow-y-auto p-1.5">
          {found.length === 0 && (
            <CommandList.Empty className="px-3 py-8 text-center text-sm text-muted">
              {t(isLoading ? "command.searching" : "command.none")}
            </CommandList.Empty>
          )}
          {GROUPS.map((group) => {
            const own = commands.filter((command) => command.group === group);
            if (own.length === 0) return null;
            return (
              <CommandList.Group key={group} heading={t(GROUP_TITLES[group])} className={GROUP_STYLE}>
                {own.map(({ id, keys, run, title }) => (
                  <CommandList.Item
                    key={id}
                    value={`${title} ${id}`}
                    onSelect={() => {
                      onClose();
                      // The dialog returns the focus first, because the command may move it.
                      setTimeout(run);
                    }}
                    className={ITEM_STYLE}
                  >
                    <span className="min-w-0 flex-1 truncate">{title}</span>
                    {keys !== undefined && <Kbd keys={keys} />}
                  </CommandList.Item>
                ))}
              </CommandList.Group>
            );
          })}
          {found.map((part) => (
            <FoundGroup key={part.group} {...part} onClose={onClose} />
          ))}
        </CommandList.List>
      </CommandList>
    </Dialog>
  );
}

/** The keyboard shortcuts of this page; on the list of tickets also those of a ticket. */
export function KeysSheet({ onClose }: { onClose: () => void }) {
  const { t } = useTexts();
  const { commands: registry } = useServices();
  const { view } = useParams({ strict: false });
  const [listed] = useState(() => registry.list());
  const isInTicket = listed.some(({ group }) => group === "ticket");
  const ofTicket = Object.entries(TICKET_KEYS).map(([id, { keys, title }]) => ({
    id: `ticket-${id}`,
    group: "ticket" as const,
    keys,
    title: t(title),
  }));
  const commands = view === undefined || isInTicket ? listed : [...listed, ...ofTicket];
  return (
    <Dialog title={t("command.keys")} width="wide" onClose={onClose}>
      <div className="gap-x-10 px-5 py-4 sm:columns-2">
        {GROUPS.map((group) => {
          const own = commands.filter((command) => command.group === group && command.keys !== undefined);
          if (own.length === 0) return null;
          return (
            <section key={group} className="mb-5 break-inside-avoid">
              <h3 className="mb-1.5 text-2xs font-semibold text-faint uppercase">{t(GROUP_TITLES[group])}</h3>
              <dl>
                {own.map(({ id, keys = "", title }) => (
                  <div key={id} className="flex items-center justify-between gap-4 py-1 text-sm">
                    <dt className="min-w-0 truncate">{title}</dt>
                    <dd>
                      <Kbd keys={keys} />
                      <span className="sr-only">{keys}</span>
                    </dd>
                  </div>
                ))}
              </dl>
            </section>
          );
        })}
      </div>
    </Dialog>
  );
}

/** The notes that mention the signed-in operator; each links to its ticket. */
export function MentionsDialog({
  mentions,
  onRead,
  onClose,
}: {
  mentions: readonly Mention[];
  onRead: () => void;
  onClose: () => void;
}) {
  const { t } = useTexts();
  const { nameOf } = usePeople();
  const here = useProject();
  useEffect(onRead, [onRead]);
  return (
    <Dialog title={t("mentions.title")} onClose={onClose}>
      {mentions.length === 0 ? (
        <EmptyState icon={AtSign} title={t("mentions.none")} text={t("mentions.noneText")} />
      ) : (
        <ul className="divide-y divide-line">
          {mentions.map(({ actor, at, author, id, project, subject, text, ticketId }, index) => (
            <li key={id}>
              <Link
                to="/$project/inbox/$view/$ticketId"
                params={{ project, view: "all", ticketId }}
                onClick={onClose}
                data-autofocus={index === 0 ? "" : undefined}
                className="block px-4 py-2.5 hover:bg-hover focus-visible:-outline-offset-2"
              >
                <span className="flex items-baseline justify-between gap-3">
                  <span dir="auto" className="truncate text-sm font-medium">
                    {subject === "" ? t("ticket.noSubject") : subject}
                  </span>
                  {project !== here && (
                    <span className="ml-auto shrink-0 text-xs text-muted">
                      <bdi>{project}</bdi>
                    </span>
                  )}
                  <Ago time={at} className="shrink-0 text-xs text-faint" />
                </span>
                <span className="mt-0.5 line-clamp-2 text-sm text-muted wrap-anywhere" dir="auto">
                  <span className="font-medium">{author ?? nameOf(actor)}:</span> {text}
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}
