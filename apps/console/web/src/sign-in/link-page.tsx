import { ServiceFault } from "@svc/client";
import type { LinkAnswer } from "@svc/contracts";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { SubmitEvent } from "react";
import { openByLink } from "../api/session.ts";
import { useServices } from "../app/services.ts";
import type { TextKey } from "../i18n/text-table.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { describeFault } from "../ui/describe-fault.ts";
import { FaultNotice } from "../ui/fault-notice.tsx";
import { formText } from "../ui/form-text.ts";
import { Field } from "../ui/field.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { EntryCard } from "./entry-card.tsx";

/** OPERATOR_LIMITS of the contracts say the same; the server checks. */
const PASSWORD_MIN_CHARS = 12;

const TITLES = {
  "first-administrator": { title: "link.firstTitle", text: "link.firstText" },
  password: { title: "link.passwordTitle", text: "link.passwordText" },
} as const satisfies Record<LinkAnswer["kind"], { title: TextKey; text: TextKey }>;

/** Where a link leads with which somebody chooses a password: the first administrator, or who was sent one. */
export function LinkPage() {
  const { t } = useTexts();
  const { connection, queryClient } = useServices();
  const navigate = useNavigate();
  // In the part of the address that no server and no log sees.
  const [token] = useState(() => location.hash.slice(1));
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const link = useQuery({
    queryKey: ["link", token],
    queryFn: async ({ signal }) =>
      (await connection.send("POST", "/link/look", { body: { token }, signal })) as LinkAnswer,
    staleTime: Infinity,
  });

  async function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const valueOf = (name: string) => formText(form, name);
    if (valueOf("password") !== valueOf("again")) return setFault(t("link.differ"));
    setBusy(true);
    setFault(null);
    try {
      const isFirst = link.data?.kind === "first-administrator";
      const who = isFirst ? { name: valueOf("name"), email: valueOf("email") } : {};
      const session = await openByLink(connection, { token, password: valueOf("password"), ...who });
      queryClient.setQueryData(["session"], session);
      await navigate({ to: "/", replace: true });
    } catch (cause) {
      setFault(describeFault(cause, t));
      setBusy(false);
      // Somebody has used the link since this page was opened.
      if (cause instanceof ServiceFault && cause.status === 404) await link.refetch();
    }
  }

  if (link.error instanceof ServiceFault && link.error.status === 404) {
    return (
      <EntryCard title={t("link.usedTitle")} text={t("link.usedText")}>
        <Link
          to="/sign-in"
          className="flex h-8 items-center justify-center rounded-md bg-accent px-3 text-sm font-medium text-on-accent hover:bg-accent-strong"
        >
          {t("link.toSignIn")}
        </Link>
      </EntryCard>
    );
  }
  const titles = TITLES[link.data?.kind ?? "password"];
  return (
    <EntryCard title={t(titles.title)} text={t(titles.text)}>
      {link.isPending && <Skeleton className="h-48 w-full" />}
      {link.isError && <FaultNotice fault={link.error} onRetry={() => void link.refetch()} />}
      {link.isSuccess && (
        <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-3.5">
          {link.data.kind === "first-administrator" ? (
            <>
              <Field label={t("link.name")} name="name" autoComplete="name" required autoFocus />
              <Field label={t("signIn.email")} name="email" type="email" autoComplete="username" required />
            </>
          ) : (
            <Field
              label={t("signIn.email")}
              type="email"
              autoComplete="username"
              value={link.data.email ?? ""}
              readOnly
            />
          )}
          <Field
            label={t("signIn.password")}
            hint={t("link.passwordHint", { count: PASSWORD_MIN_CHARS })}
            name="password"
            type="password"
            autoComplete="new-password"
            minLength={PASSWORD_MIN_CHARS}
            required
          />
          <Field
            label={t("link.again")}
            name="again"
            type="password"
            autoComplete="new-password"
            minLength={PASSWORD_MIN_CHARS}
            required
          />
          <p role="alert" className="text-sm text-bad empty:hidden">
            {fault}
          </p>
          <Button type="submit" look="primary" isBusy={isBusy} className="w-full">
            {t("link.submit")}
          </Button>
        </form>
      )}
    </EntryCard>
  );
}
