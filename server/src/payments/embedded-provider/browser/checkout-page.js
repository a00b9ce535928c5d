// The page inside the dialog. It tells the page around it what happened, and nobody else: same origin only.
const form = document.querySelector("form");
const { key, order = "", cards = "" } = form.dataset;
const failed = form.querySelector(".failed");
const pay = form.querySelector(".pay");

form.querySelector(".close").addEventListener("click", () => tell({ event: "close" }));
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") tell({ event: "escape" });
});
document.addEventListener("click", (event) => {
  if (!event.target.closest(".dialog")) tell({ event: "backdrop" });
});

if (pay) {
  form.elements.number.focus();
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

async function submit() {
  failed.hidden = true;
  const card = readCard();
  if (!card || pay.disabled) return;
  pay.disabled = true;
  const { response, error } = await send(card);
  pay.disabled = false;
  if (response) return tell({ event: "paid", response });
  // Chosen on the page of outcomes: as if the buyer had closed it.
  if (error.reason === "payment_dismissed") return tell({ event: "close" });
  failed.textContent = error.description;
  failed.hidden = false;
  tell({ event: "failed", error });
}

async function send(card) {
  try {
    const answer = await fetch("payments/create/checkout", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ key_id: key, order_id: order, method: "card", card }),
    });
    const body = await answer.json();
    return answer.ok ? { response: body } : { error: body.error ?? { description: `HTTP ${answer.status}` } };
  } catch {
    return { error: { code: "NETWORK_ERROR", description: "The gateway does not answer. Try again." } };
  }
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
  if (!input) return;
  document.getElementById(`${name}-error`).textContent = text;
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
