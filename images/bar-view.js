/* What the bar in JupyterLab and its notice look like; bar.js fills them (G392). */

const style = `
#berth-bar { display: flex; align-items: center; gap: 12px; margin-left: auto; padding: 0 8px; overflow: visible; flex: none;
  min-width: max-content; color: var(--jp-ui-font-color1); font-size: var(--jp-ui-font-size1); white-space: nowrap; }
#berth-bar [hidden], #berth-bar[hidden] { display: none !important; }
#berth-bar b { font-weight: 600; max-width: 160px; overflow: hidden; text-overflow: ellipsis; }
.berth-num { font-variant-numeric: tabular-nums; }
#berth-bar [data-measured] { display: contents; }
#berth-bar [data-low] { color: var(--jp-error-color1); font-weight: 600; }
#berth-rest { display: flex; position: static; inset: auto; align-items: center; gap: 12px; margin: 0; padding: 0; border: 0;
  background: none; color: inherit; overflow: visible; width: auto; height: auto; }
.berth-meter { display: inline-flex; align-items: center; gap: 6px; }
.berth-meter i { display: inline-block; width: 36px; height: 4px; border-radius: 2px; background: var(--jp-border-color2); overflow: hidden; }
.berth-meter u { display: block; height: 100%; background: var(--jp-brand-color1); }
.berth-act { height: 22px; padding: 0 8px; border: 1px solid var(--jp-border-color1); border-radius: 3px; background: transparent;
  color: var(--jp-ui-font-color1); font: inherit; line-height: 20px; text-decoration: none; cursor: pointer; }
.berth-act:hover { background: var(--jp-layout-color3); }
.berth-act:focus-visible { outline: 2px solid var(--jp-brand-color1); outline-offset: 1px; }
#berth-more { display: none; }
#berth-closed { position: fixed; z-index: 10001; top: 44px; left: 50%; transform: translateX(-50%); box-sizing: border-box;
  width: min(520px, calc(100vw - 24px)); padding: 16px 20px; border: 1px solid var(--jp-border-color1); border-radius: 6px;
  background: var(--jp-layout-color1); color: var(--jp-ui-font-color1); box-shadow: 0 8px 28px rgb(0 0 0 / 28%);
  font-family: var(--jp-ui-font-family); font-size: 14px; line-height: 20px; }
#berth-closed h2 { margin: 0; font-size: 16px; line-height: 22px; font-weight: 600; }
#berth-closed p { margin: 4px 0 12px; }
#berth-closed .berth-acts { display: flex; flex-wrap: wrap; gap: 8px; }
#berth-closed .berth-act { height: 32px; padding: 0 14px; line-height: 30px; font-size: 13px; }
#berth-closed .berth-act:first-child { border-color: var(--jp-ui-font-color1); background: var(--jp-ui-font-color1); color: var(--jp-layout-color1); }
@media (max-width: 1360px) {
  #berth-bar b { display: none; }
  #berth-more { display: inline-block; }
  #berth-rest { display: none; position: fixed; inset: 32px 4px auto auto; flex-direction: column; align-items: stretch; gap: 10px;
    min-width: 200px; padding: 12px; border: 1px solid var(--jp-border-color1); border-radius: 6px; background: var(--jp-layout-color1);
    color: var(--jp-ui-font-color1); font-family: var(--jp-ui-font-family); font-size: 13px; box-shadow: 0 8px 28px rgb(0 0 0 / 28%); }
  #berth-rest:popover-open { display: flex; }
  #berth-rest .berth-meter { justify-content: space-between; }
  #berth-rest .berth-act { height: 32px; line-height: 30px; text-align: center; }
}
@media (max-width: 760px) {
  #berth-bar { gap: 8px; padding: 0 4px; }
  /* Menus that have no room are scrolled to. */
  #jp-menu-panel { flex: 1 1 0; min-width: 0; }
  #jp-MainMenu.lm-MenuBar { overflow-x: auto; scrollbar-width: none; }
  #jp-top-bar { flex: 0 1 auto; min-width: 0; }
}`;

const make = (tag, attributes = {}, ...children) => {
  const node = Object.assign(document.createElement(tag), attributes);
  node.append(...children);
  return node;
};
export const link = (text, href) =>
  make("a", { className: "berth-act", href, target: "_blank", rel: "noreferrer" }, text);
export const button = (text, onclick) => make("button", { className: "berth-act", type: "button", onclick }, text);

/** As the app writes it, with seconds in the last ten minutes. */
export const duration = (seconds) => {
  const minutes = Math.floor(seconds / 60);
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor((minutes % 1440) / 60)];
  if (days > 0) return `${days}d ${hours}h`;
  if (hours > 0) return `${hours}h ${minutes % 60}m`;
  return minutes >= 10 ? `${minutes}m` : `${minutes}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
};
const money = (minor, currency) => {
  const digits = currency === "INR" && minor % 100 === 0 ? 0 : 2;
  const locale = currency === "INR" ? "en-IN" : "en-US";
  const fraction = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return (minor / 100).toLocaleString(locale, { style: "currency", currency, ...fraction });
};
const gigabytes = (megabytes) => `${(megabytes / 1000).toFixed(1)} GB`;

const meter = (label, value, percent) => {
  const node = make("span", { className: "berth-meter berth-num" }, `${label} ${value}`);
  if (percent === undefined) return node;
  const filled = make("u");
  filled.style.width = `${Math.min(100, percent)}%`;
  node.append(make("i", {}, filled));
  return node;
};
const meters = ({ cpu_cores: cores, memory_mb: memory, gpu }) => {
  const ofMemory = meter("Memory", gigabytes(memory));
  if (!gpu) return [meter("CPU", `${cores.toFixed(1)} cores`), ofMemory];
  const { use_percent: use, memory_mb: used, total_memory_mb: total } = gpu;
  const ofGpu = meter("GPU", `${Math.round(use)} %, ${gigabytes(used)}`, use);
  if (total > 0) ofGpu.title = `GPU memory: ${gigabytes(used)} of ${gigabytes(total)}`;
  return [ofGpu, ofMemory];
};

export const createBar = (onStop) => {
  document.head.append(make("style", {}, style));
  const number = (key) => {
    const node = make("span", { className: "berth-num" });
    node.dataset[key] = "";
    return node;
  };
  const [title, time, cost, measured] = [make("b"), ...["time", "cost", "measured"].map(number)];
  const ofCost = make("span", {}, cost, " so far");
  const [add, stop, page] = [link("Add time", ""), button("Stop", onStop), link("Environment page", "")];
  const rest = make("div", { id: "berth-rest", popover: "auto" }, ofCost, measured, add, stop, page);
  const menu = { id: "berth-more", className: "berth-act", type: "button", popoverTargetElement: rest };
  const more = make("button", menu, "Rental");
  const region = { id: "berth-bar", role: "region", ariaLabel: "Rental", hidden: true };
  const node = make("div", region, title, time, more, rest);
  const secondsLeft = ({ expires_at: end, banked_seconds: banked }, now) =>
    Math.max(0, end === null ? banked : (Date.parse(end) - now) / 1000);
  return {
    node,
    show({ name: text, rental, sample, availability }) {
      node.hidden = false;
      title.textContent = title.title = text;
      for (const each of [time, more, rest]) each.hidden = !rental;
      more.style.display = rest.style.display = rental ? "" : "none";
      if (!rental) return;
      const paid = rental.booked?.paid ?? [];
      cost.textContent = paid.map((each) => money(each.used_minor, each.currency)).join(" + ");
      ofCost.title = paid.map((each) => `Cost so far, of ${money(each.minor, each.currency)} paid`).join(", ");
      ofCost.hidden = paid.length === 0;
      measured.replaceChildren(...(sample ? meters(sample) : []));
      stop.hidden = availability !== "open" && availability !== "paused";
      [add.href, page.href] = [rental.add_time_url, rental.page_url];
    },
    /** Returns the seconds that are left. */
    tick(rental, now) {
      const left = secondsLeft(rental, now);
      const stands = rental.expires_at === null ? ", clock stopped" : "";
      time.textContent = left > 0 ? `${duration(left)} left${stands}` : "Expired";
      time.toggleAttribute("data-low", left < 600);
      return left;
    },
  };
};

export const clockTime = (iso) => new Date(iso).toLocaleTimeString([], { hour: "numeric", minute: "2-digit" });

/** Says why the page does not answer. `actions` are links and buttons, the main one first. Null takes it away. */
export const createNotice = () => {
  const node = make("div", { id: "berth-closed", role: "alert" });
  let said = "";
  return (closed, actions) => {
    const head =
      closed && [closed.title, closed.at && `at ${clockTime(closed.at)}`, closed.by].filter(Boolean).join(" ");
    const text = closed ? [head, ...actions.map(({ textContent }) => textContent)].join() : "";
    // What is said already stays, or stays hidden; the time in its text goes on.
    if (text === said) return void node.querySelector("p")?.replaceChildren(closed?.text ?? "");
    said = text;
    node.remove();
    if (!closed) return;
    const acts = make(
      "div",
      { className: "berth-acts" },
      ...actions,
      button("Hide", () => node.remove()),
    );
    node.replaceChildren(make("h2", {}, head), make("p", {}, closed.text), acts);
    document.body.append(node);
  };
};
