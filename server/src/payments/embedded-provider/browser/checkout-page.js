// The page inside the dialog. It tells the page around it what happened, and nobody else: same origin only.
const form = document.querySelector("form");
const { key, order = "", cards = "", vpas = "" } = form.dataset;
const failed = form.querySelector(".failed");
const pay = form.querySelector(".pay");
const waiting = form.querySelector(".waiting");
const askEveryMs = 3000;

form.querySelector(".close").addEventListener("click", () => tell({ event: "close" }));
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") tell({ event: "escape" });
});
document.addEventListener("click", (event) => {
  if (!event.target.closest(".dialog")) tell({ event: "backdrop" });
});

if (pay) {
  (form.elements.vpa ?? form.elements.number).focus();
  for (const radio of form.querySelectorAll("[name=method]")) radio.addEventListener("change", showMethod);
  form.elements.number.addEventListener("input", groupDigits);
  form.elements.expiry.addEventListener("input", addSlash);
  form.addEventListener("input", ({ target }) => say(target.name, ""));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void submit();
  });
  showTimeLeft(Number(location.hash.slice(1)));
  const outcomes = form.querySelector(".choose a");
  if (outcomes) outcomes.hash = location.hash;
}

// A choice that the browser kept over a reload counts too.
function showMethod() {
  failed.hidden = true;
  for (const part of form.querySelectorAll(".method")) part.hidden = part.dataset.method !== method();
}

// Without a choice there are only cards.
function method() {
  return form.elements.method?.value ?? "card";
}

async function submit() {
  failed.hidden = true;
  const means = readMeans();
  if (!means || pay.disabled) return;
  pay.disabled = true;
  const { response, error } = await settled(await send(means));
  pay.disabled = false;
  showWaiting(false);
  if (response) return tell({ event: "paid", response });
  // Chosen on the page of outcomes: as if the buyer had closed it.
  if (error.reason === "payment_dismissed") return tell({ event: "close" });
  failed.textContent = error.description;
  failed.hidden = false;
  tell({ event: "failed", error });
}

function send(means) {
  return ask("payments/create/checkout", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ key_id: key, order_id: order, method: method(), ...means }),
  });
}

// A payment that waits for an approval elsewhere is asked about until it has an answer. A lost answer is asked for again.
async function settled(first) {
  const id = first.response?.payment_id;
  if (first.response?.type !== "async") return first;
  showWaiting(true);
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, askEveryMs));
    const answer = await ask(`payments/${id}/status?${new URLSearchParams({ key_id: key, order_id: order })}`);
    const isOpen =
      answer.response?.status === "created" || ["NETWORK_ERROR", "SERVER_ERROR"].includes(answer.error?.code);
    if (!isOpen && answer.status !== 429) return answer;
  }
}

function showWaiting(isWaiting) {
  if (!waiting) return;
  waiting.hidden = !isWaiting;
  pay.hidden = isWaiting;
  form.querySelector(".methods").hidden = isWaiting;
  if (isWaiting) for (const part of form.querySelectorAll(".method")) part.hidden = true;
  else showMethod();
  // The button with the focus is gone; Escape and the next Tab must still be heard here.
  if (isWaiting) form.querySelector(".close").focus();
}

async function ask(path, init) {
  try {
    const answer = await fetch(path, init);
    const { status } = answer;
    const body = await answer.json();
    return answer.ok ? { response: body } : { status, error: body.error ?? { description: `HTTP ${status}` } };
  } catch {
    return { error: { code: "NETWORK_ERROR", description: "The gateway does not answer. Try again." } };
  }
}

function readMeans() {
  if (method() === "card") {
    const card = readCard();
    return card && { card };
  }
  if (method() === "netbanking") return { bank: form.elements.bank.value };
  if (method() === "wallet") return { wallet: form.elements.wallet.value };
  // Checked here first: a person's own address never leaves the browser.
  const vpa = form.elements.vpa.value.trim().toLowerCase();
  if (vpas.split(" ").includes(vpa)) return { vpa };
  say("vpa", "Only test addresses work here. Use success@razorpay.");
  form.elements.vpa.focus();
  return undefined;
}

// Checked here first: a real card number never leaves the browser.
function readCard() {
  const number = form.elements.number.value.replace(/[\s-]/g, "");
  const [, month, year] = /^(\d{1,2}) ?\/? ?(\d{4}|\d{2})$/.exec(form.elements.expiry.value.trim()) ?? [];
  const cvv = form.elements.cvv.value.trim();
  const problems = {
    number: cards.split(" ").includes(number) ? "" : "Only test cards work here. Use 5555 5555 5555 4444.",
    expiry: isFuture(month, year) ? "" : "A future month, as MM/YY",
    cvv: /^\d{3,4}$/.test(cvv) ? "" : "3 or 4 digits",
  };
  for (const [name, text] of Object.entries(problems)) say(name, text);
  const first = Object.keys(problems).find((name) => problems[name] !== "");
  if (!first) return { number, cvv, expiry_month: month.padStart(2, "0"), expiry_year: year };
  form.elements[first].focus();
  return undefined;
}

function isFuture(month, year) {
  if (!month || Number(month) < 1 || Number(month) > 12) return false;
  const fullYear = year.length === 2 ? 2000 + Number(year) : Number(year);
  return Date.UTC(fullYear, Number(month)) > Date.now();
}

function say(name, text) {
  const input = form.elements[name];
  const error = document.getElementById(`${name}-error`);
  if (!input || !error) return;
  error.textContent = text;
  if (text) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
}

function groupDigits({ target }) {
  if (target.selectionStart !== target.value.length) return;
  target.value = target.value
    .replace(/\D/g, "")
    .slice(0, 19)
    .replace(/(.{4})(?=.)/g, "$1 ");
}

function addSlash({ target, inputType }) {
  if (inputType?.startsWith("delete")) return;
  if (/^\d{2}$/.test(target.value)) target.value += "/";
}

function showTimeLeft(endsAt) {
  if (!(endsAt > Date.now())) return;
  const row = form.querySelector(".left");
  row.hidden = false;
  const tick = () => {
    const seconds = Math.max(0, Math.round((endsAt - Date.now()) / 1000));
    row.querySelector("time").textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  };
  tick();
  setInterval(tick, 1000);
}

function tell(message) {
  if (window.parent !== window) window.parent.postMessage({ checkout: order, ...message }, location.origin);
}
