import { beginLink, finishLink, linkedAccounts, removeLink as removeLinkEndpoint } from "@berth/contract";
import type { FastifyInstance } from "fastify";
import { AppError } from "../../app-error.ts";
import { mount, notFound, success } from "../../http/mount.ts";
import type { LocalOptions } from "../local/local-deps.ts";
import type { LocalIdentity } from "../local/local-identity.ts";
import { hasPassword, provePassword } from "../prove-password.ts";
import { providerAttempts } from "./attempts.ts";
import { linkTickets } from "./link-tickets.ts";
import { addLink, listLinks, removeLink } from "./links.ts";
import { browserOf, overdue, type ProviderRoutesDeps } from "./provider-routes.ts";

interface LinkRoutesDeps extends Pick<ProviderRoutesDeps, "db" | "providers" | "secret" | "appUrl"> {
  readonly identity: LocalIdentity;
  readonly announce: NonNullable<LocalOptions["announce"]>;
}

/** Accounts of other providers that sign in to one's own: connected and removed by the password (G419). */
export function linkRoutes(app: FastifyInstance, deps: LinkRoutesDeps): void {
  const { db, providers, secret, appUrl } = deps;

  mount(app, linkedAccounts, async ({ user }) => ({
    ...success,
    linked_accounts: (await listLinks(db, user.id)).map(({ id, issuer, email, created_at, last_used_at }) => ({
      ...{ id, email, provider: providers.nameOf(issuer) },
      created_at: created_at.toISOString(),
      last_used_at: last_used_at?.toISOString() ?? null,
    })),
    providers: providers.all.map(({ key, name }) => ({ key, name })),
    has_password: await hasPassword(db, user.id),
  }));

  mount(app, beginLink, async ({ user, body, request }) => {
    const provider = providers.find(body.provider);
    if (!provider) throw notFound();
    await provePassword(deps, { user, password: body.password, from: request.ip });
    // Who opened the account with another's address would keep a way in after its owner has reset the password.
    if (!user.emailVerified)
      throw new AppError("email_unverified", "Confirm your email address first: a link is sent from where you launch");
    const ticket = linkTickets(secret).issue(user.id, provider.key);
    return { ...success, start: `/auth/providers/${provider.key}/start?link=${ticket}` };
  });

  mount(app, finishLink, async ({ user, body, request }) => {
    const browser = browserOf(request, appUrl) ?? "";
    const taken = await providerAttempts(db, secret).take({ code: body.code, browser, linkUser: user.id });
    const provider = taken && providers.find(taken.provider);
    if (!provider) throw overdue();
    await addLink(deps, user.id, provider, taken.account);
    request.log.info({ event: "user.provider_linked", userId: user.id, provider: provider.key }, "provider connected");
    return { ...success, provider: provider.name };
  });

  mount(app, removeLinkEndpoint, async ({ user, body, params, request }) => {
    await provePassword(deps, { user, password: body.password, from: request.ip });
    await removeLink(deps, { userId: user.id, id: params.link_id }, providers.nameOf);
    request.log.info({ event: "user.provider_unlinked", userId: user.id }, "provider disconnected");
    return success;
  });
}
