/*
 * An extension of JupyterLab's page, in the shape that its loader asks for. A notebook that is opened while one of its cells runs,
 * started by a page that is gone, goes on here: what the cell prints is read from the server until its end (G377). outputs.py is
 * the other half.
 */
{
  const name = "@berth/outputs";
  const pollMs = 1000;
  const waitMs = 5000;
  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

  const ask = async (app, query) => {
    const { baseUrl } = app.serviceManager.serverSettings;
    const response = await fetch(`${baseUrl}berth/outputs?${new URLSearchParams(query)}`, {
      credentials: "same-origin",
    });
    if (!response.ok) throw new Error(String(response.status));
    return response.json();
  };

  /** Changes only what differs, so that the page does not jump. */
  const update = (model, outputs) => {
    const had = model.toJSON();
    if (had.length > outputs.length) model.clear();
    for (const [place, output] of outputs.entries()) {
      if (place >= model.length) model.add(output);
      else if (JSON.stringify(had[place]) !== JSON.stringify(output)) model.set(place, output);
    }
  };

  /** Returns the number of messages that the cell has now. */
  const draw = (cell, reply, seen) => {
    if (reply.outputs) update(cell.model.outputs, reply.outputs);
    if (!reply.is_running && reply.outputs) cell.model.executionCount = reply.count;
    cell.model.executionState = reply.is_running ? "running" : "idle";
    cell.setPrompt(reply.is_running ? "*" : String(cell.model.executionCount ?? ""));
    return reply.outputs ? reply.seen : seen;
  };

  const show = async (app, panel, run) => {
    const find = () => {
      const cells = panel.isDisposed ? [] : panel.content.widgets;
      return cells.find(({ model }) => model.id === run.cell && model.type === "code");
    };
    const own = find()?.outputArea.future;
    for (let seen = ""; ; ) {
      const askedAt = performance.now();
      const reply = await ask(app, { path: panel.context.path, run: run.id, seen }).catch(() => undefined);
      const cell = find();
      // Gone, or run again meanwhile: that the page itself shows.
      if (!cell || cell.outputArea.future !== own) return;
      if (reply) seen = draw(cell, reply, seen);
      if (reply && !reply.is_running) return;
      // Much output takes long, and is asked for less often.
      await wait(Math.max(pollMs, 5 * (performance.now() - askedAt)));
    }
  };

  /** Undefined without an answer; none where no outputs are kept. */
  const runsOf = async (app, path) => {
    try {
      return (await ask(app, { path })).runs;
    } catch ({ message }) {
      return message.startsWith("4") ? [] : undefined;
    }
  };

  /** Finds runs of pages that are gone: one that is still connected shows its own. */
  const follow = async (app, panel) => {
    await panel.context.ready;
    const followed = new Set();
    while (!panel.isDisposed) {
      const runs = await runsOf(app, panel.context.path);
      for (const run of runs?.filter((each) => !(each.is_shown || followed.has(each.id))) ?? []) {
        followed.add(run.id);
        show(app, panel, run).catch(() => {});
      }
      if (runs && !runs.some((run) => run.is_shown)) return;
      await wait(waitMs);
    }
  };

  const createNew = (app) => (panel) => {
    follow(app, panel).catch(() => {});
  };
  const activate = (app) => app.docRegistry.addWidgetExtension("Notebook", { createNew: createNew(app) });
  const plugin = { id: `${name}:plugin`, autoStart: true, activate };
  const get = async () => () => ({ __esModule: true, default: plugin });
  window._JUPYTERLAB = { ...window._JUPYTERLAB, [name]: { init: () => {}, get } };
}
