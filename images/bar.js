/*
 * An extension of JupyterLab's page, in the shape that its loader asks for: what the rental has left and costs, and what has
 * happened to it when the page no longer answers (G392, G393, G394). The gateway answers what it asks; without a gateway, or with
 * anything missing, nothing is shown and JupyterLab is as it was. bar-view.js is what it looks like.
 */
{
  const name = "@berth/bar";
  const own = "/_berth/";
  /** A pause closes no connection, so only a question finds it. */
  const pollMs = 2000;
  const finalPollMs = 10_000;
  const retryMs = 500;
  const narrow = 600;
  const warnings = [30, 10];
  const here = document.currentScript.src;

  const gone = {
    ...{ title: "This page is signed out", at: null, by: "" },
    text: "Copy what you have not saved, then load it again to sign in.",
  };
  const outage = () => ({
    ...{ title: navigator.onLine ? "Berth does not answer" : "You are offline", at: null, by: "" },
    text: "What runs goes on running, and this page connects again by itself. Keep it open until what you wrote is saved.",
  });

  let scope = {};
  /** A module that JupyterLab itself uses. */
  const shared = async (key) => {
    const versions = Object.values(scope[key]);
    const { get } = versions.find(({ loaded }) => loaded) ?? versions[0];
    return (await get())();
  };

  const post = (path, body) =>
    fetch(own + path, { method: "POST", body, credentials: "same-origin", redirect: "manual" });

  /** The page connects again at once, not after JupyterLab's growing delays. */
  const reconnect = (app) => {
    for (const { context } of app.shell.widgets("main")) {
      const kernel = context?.sessionContext?.session?.kernel;
      if (kernel && kernel.connectionStatus !== "connected") kernel.reconnect().catch(() => {});
    }
  };

  /** Asks, explains, and stops. */
  const stop = async ({ showDialog, Dialog, Notification }, { name: title, rental }, left) => {
    const time = rental.plan === "monthly" ? "the month goes on" : `${left} stays yours`;
    const body = `Variables and running cells are lost. Your files stay, and ${time}. Save your notebooks first.`;
    const buttons = [Dialog.cancelButton(), Dialog.warnButton({ label: "Stop" })];
    const { button } = await showDialog({ title: `Stop ${title}?`, body, buttons, defaultButton: 0 });
    if (!button.accept) return;
    const reply = await post("stop").catch(() => undefined);
    if (reply?.status === 204) return;
    const problem = (await reply?.json().catch(() => undefined))?.message ?? "Berth does not answer";
    Notification.error(`Not stopped: ${problem}.`, { autoClose: false });
  };

  /** Once at each of the last 30 and 10 minutes, also when the page is loaded again. */
  const warn = ({ Notification }, view, { name: title, rental }, left) => {
    const due = warnings.filter((minutes) => left > 0 && left <= minutes * 60).at(-1);
    const key = `berth-warned ${rental.expires_at} ${due}`;
    if (due === undefined || rental.expires_at === null || sessionStorage.getItem(key)) return;
    sessionStorage.setItem(key, "1");
    const actions = [{ label: "Add time", callback: () => window.open(rental.add_time_url, "_blank", "noopener") }];
    const ends = `${title} ends at ${view.clockTime(rental.expires_at)}, in ${view.duration(left)}. Its files are kept.`;
    Notification.warning(ends, { autoClose: false, actions });
  };

  /** What can be done about a page that does not answer; the main action first. */
  const actionsOf = (view, { availability, closed, rental }, poll) => {
    if (closed && availability === "open") return [view.button("Load this page again", () => location.reload())];
    if (!rental) return [];
    const restart = () => post("restart", new URLSearchParams({ path: "/lab" })).then(poll, poll);
    if (availability === "paused") return [view.button("Restart", restart)];
    return [view.link(availability === "stopped" ? "Restart on its page" : "Environment page", rental.page_url)];
  };

  /** Asks the gateway while somebody looks. `onState` gets a state, or undefined for a page that is signed out. */
  const startPolling = (onState, onOutage) => {
    let state;
    let isOurs = false;
    let failures = 0;
    let timer;
    const ask = async () => {
      const signal = AbortSignal.timeout(10_000);
      const reply = await fetch(`${own}state`, { credentials: "same-origin", cache: "no-store", signal });
      if (reply.status >= 500) throw new Error(String(reply.status));
      state = reply.ok ? await reply.json() : undefined;
      isOurs ||= reply.ok;
      failures = 0;
      onState(state);
    };
    const poll = async () => {
      await ask().catch(() => {
        failures += 1;
        // A single failure may be one connection's.
        if (failures > 1) onOutage();
      });
      clearTimeout(timer);
      const ms = failures === 1 ? retryMs : !state || state.closed?.is_final ? finalPollMs : pollMs;
      if (!document.hidden && (isOurs || failures > 0)) timer = setTimeout(poll, ms);
    };
    document.addEventListener("visibilitychange", () => document.hidden || poll());
    window.addEventListener("online", poll);
    return poll;
  };

  /** "JupyterLab" in the tab's title is the environment's name, the first label of its address. */
  const nameTab = () => {
    const put = () => {
      const title = document.title.replace(/(^|- )JupyterLab/, `$1${location.hostname.split(".")[0]}`);
      if (title !== document.title) document.title = title;
    };
    put();
    new MutationObserver(put).observe(document.querySelector("title"), { childList: true });
  };

  const begin = async (app) => {
    const view = await import(new URL("bar-view.js", here).href);
    const { Widget } = await shared("@lumino/widgets");
    const dialogs = await shared("@jupyterlab/apputils");
    const notice = view.createNotice();
    const bar = view.createBar(() => void stop(dialogs, state, view.duration(left)).then(poll));
    let state;
    let aheadMs = 0;
    let left = 0;
    let wasClosed = false;
    // JupyterLab shows no notice that is older than itself.
    let isRestored = false;
    app.restored.then(() => {
      isRestored = true;
    });
    const tick = () => {
      if (!state?.rental) return;
      left = bar.tick(state.rental, Date.now() + aheadMs);
      if (isRestored && state.availability === "open") warn(dialogs, view, state, left);
    };
    const close = (closed, actions) => {
      wasClosed = true;
      notice(closed, actions);
    };
    const show = (next) => {
      if (!next) return state && close(gone, [view.button("Load this page again", () => location.reload())]);
      // The first answer may come late, after questions that failed.
      if (!state) nameTab();
      state = next;
      aheadMs = Date.parse(next.now) - Date.now();
      bar.show(next);
      tick();
      if (next.closed) return close(next.closed, actionsOf(view, next, poll));
      notice(null, []);
      if (wasClosed) reconnect(app);
      wasClosed = false;
    };
    const poll = startPolling(show, () => state && close(outage(), []));
    const widget = new Widget({ node: bar.node });
    widget.id = "berth-bar";
    app.shell.add(widget, "top", { rank: 1000 });
    setInterval(tick, 1000);
    await poll();
    return { poll, isShown: () => state !== undefined };
  };

  let begun;
  const activate = (app) => {
    begun = begin(app).catch((error) => void console.warn("The rental is not shown.", error));
    app.restored.then(() => window.innerWidth < narrow && app.shell.collapseLeft()).catch(() => {});
  };
  /** In place of "Server Connection Error", where the bar says what has happened. */
  const lost = ({ IConnectionLost, ConnectionLost }) => ({
    ...{ id: `${name}:connection-lost`, autoStart: true, provides: IConnectionLost },
    activate:
      () =>
      async (...given) => {
        const bar = await begun;
        if (bar?.isShown()) await bar.poll();
        else await ConnectionLost(...given);
      },
  });

  const get = async () => {
    const plugins = [{ id: `${name}:plugin`, autoStart: true, activate }];
    try {
      plugins.push(lost(await shared("@jupyterlab/application")));
    } catch (error) {
      console.warn("JupyterLab's own message on a lost connection stays.", error);
    }
    return () => ({ __esModule: true, default: plugins });
  };
  const init = (given) => {
    scope = given;
  };
  window._JUPYTERLAB = { ...window._JUPYTERLAB, [name]: { init, get } };
}
