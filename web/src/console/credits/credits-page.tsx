import { creditsListed, readCredits } from "@berth/contract/console/credits";
import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ActDialog, type ActRequest } from "../frame/act-dialog.tsx";
import { callConsole } from "../frame/call-console.ts";
import list from "../frame/list.module.css";
import { NotRead } from "../frame/not-read.tsx";
import { CreditTable } from "./credit-table.tsx";
import classes from "./credits-page.module.css";
import { MadeCodes, type NewCodes } from "./made-codes.tsx";
import { NewVouchers } from "./new-vouchers.tsx";
import { RevokeCode } from "./revoke-code.tsx";
import { VoucherTable } from "./voucher-table.tsx";

/** Kinds of vouchers, and what accounts have open. A credit for one account is granted on its page. */
export function CreditsPage() {
  const [request, setRequest] = useState<ActRequest>();
  const [made, setMade] = useState<NewCodes>();
  const { data, error, refetch } = useQuery({
    queryKey: ["credits"],
    queryFn: ({ signal }) => callConsole(readCredits, { params: {}, body: {} }, signal),
  });
  return (
    <div className={list.page}>
      {made && <MadeCodes key={made.id} made={made} onClose={() => setMade(undefined)} />}
      {error && <NotRead what="The credits" error={error} onAgain={refetch} />}
      {!data && !error && <Skeleton height={320} radius="lg" role="status" aria-label="Reading the credits" />}
      {data && (
        <>
          <section aria-label="Vouchers">
            <div className={classes.head}>
              <h2 className={list.title}>Vouchers</h2>
              <div className={list.actions}>
                <RevokeCode />
                <NewVouchers onMade={setMade} />
              </div>
            </div>
            {data.vouchers.length > 0 ? (
              <VoucherTable vouchers={data.vouchers} onAct={setRequest} />
            ) : (
              <p className={list.hint}>None was made. A code brings hours that its account does not pay for.</p>
            )}
          </section>
          <section aria-label="Open credits">
            <h2 className={list.title}>Open credits</h2>
            {data.credits.length > 0 ? (
              <CreditTable credits={data.credits} onAct={setRequest} />
            ) : (
              <p className={list.hint}>No account has one. The page of an account under People grants one.</p>
            )}
          </section>
          {Math.max(data.credits.length, data.vouchers.length) === creditsListed && (
            <p className={list.hint}>The newest {creditsListed} of each are shown.</p>
          )}
        </>
      )}
      <ActDialog request={request} onClose={() => setRequest(undefined)} />
    </div>
  );
}
