// The page that chooses what happens to an order. It goes back to the payment, with the end of its time.
const form = document.querySelector("form");
const failed = form.querySelector(".failed");
const back = form.querySelector(".back a");
back.hash = location.hash;

form.querySelector("input:checked")?.focus();
form.addEventListener("submit", (event) => {
  event.preventDefault();
  void submit();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") back.click();
});

async function submit() {
  failed.hidden = true;
  const problem = await choose(new FormData(form).get("outcome"));
  if (!problem) return back.click();
  failed.textContent = problem;
  failed.hidden = false;
}

async function choose(outcome) {
  try {
    const answer = await fetch(`test/orders/${form.dataset.order}/outcome`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ outcome }),
    });
    return answer.ok ? "" : ((await answer.json()).error?.description ?? `HTTP ${answer.status}`);
  } catch {
    return "The gateway does not answer. Try again.";
  }
}
