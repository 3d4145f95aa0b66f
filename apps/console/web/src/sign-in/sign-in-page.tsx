import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import type { SubmitEvent } from "react";
import { ServiceFault } from "@svc/client";
import { signIn } from "../api/session.ts";
import type { SignInWays } from "../api/session.ts";
import { ReachBanner } from "../app/reach-banner.tsx";
import { useServices } from "../app/services.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { describeFault } from "../ui/describe-fault.ts";
import { formText } from "../ui/form-text.ts";
import { Field } from "../ui/field.tsx";
import { describeSsoFault } from "./describe-sso-fault.ts";
import { EntryCard } from "./entry-card.tsx";

/** Where operators sign in. */
export function SignInPage() {
  const { t } = useTexts();
  const { connection, queryClient } = useServices();
  const navigate = useNavigate();
  const { to = "/", fault: ssoFault } = useSearch({ from: "/sign-in" });
  const [fault, setFault] = useState<string | null>(ssoFault === undefined ? null : t(describeSsoFault(ssoFault)));
  const [isBusy, setBusy] = useState(false);
  const { data: ways } = useQuery({
    queryKey: ["sign-in-ways"],
    queryFn: async ({ signal }) => (await connection.send("GET", "/sign-in-ways", { signal })) as SignInWays,
  });

  async function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setFault(null);
    try {
      const session = await signIn(connection, formText(form, "email"), formText(form, "password"));
      queryClient.setQueryData(["session"], session);
      await navigate({ href: to, replace: true });
    } catch (cause) {
      const isWrong = cause instanceof ServiceFault && cause.status === 401;
      setFault(isWrong ? t("signIn.wrong") : describeFault(cause, t));
    } finally {
      setBusy(false);
    }
  }

  return (
    <EntryCard title={t("signIn.title")}>
      <ReachBanner />
      <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-3.5">
        <Field label={t("signIn.email")} name="email" type="email" autoComplete="username" required autoFocus />
        <Field label={t("signIn.password")} name="password" type="password" autoComplete="current-password" required />
        <p role="alert" className="text-sm text-bad empty:hidden">
          {fault}
        </p>
        <Button type="submit" look="primary" isBusy={isBusy} className="w-full">
          {t("signIn.submit")}
        </Button>
      </form>
      {ways !== undefined && ways.oidc !== null && (
        <a
          href={ways.oidc.startUrl}
          className="mt-3 flex h-8 items-center justify-center rounded-md border border-line text-sm font-medium hover:bg-hover"
        >
          {t("signIn.sso", { name: ways.oidc.name })}
        </a>
      )}
    </EntryCard>
  );
}
