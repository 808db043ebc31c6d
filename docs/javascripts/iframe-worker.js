/* Search in pages that are opened from disk. A browser starts no worker from a file, so here the worker's script runs in a
   hidden frame of the page, which has the functions that the script expects of a worker. */
(() => {
  if (location.protocol !== "file:") return;

  /* Load scripts one after the other, as importScripts does. */
  const load = (page, scripts) =>
    scripts.reduce(
      (before, script) =>
        before.then(
          () =>
            new Promise((loaded, failed) => {
              const tag = page.createElement("script");
              tag.onload = loaded;
              tag.onerror = () => failed(new Error(`cannot load ${script}`));
              tag.src = script;
              page.body.append(tag);
            }),
        ),
      Promise.resolve(),
    );

  window.Worker = class extends EventTarget {
    constructor(script) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      this.inside = this.frame.contentWindow;
      this.inside.postMessage = (data) => this.answer("message", data);
      this.inside.importScripts = (...scripts) => load(this.inside.document, scripts);
      this.ready = load(this.inside.document, [String(script)]);
      this.ready.catch((error) => this.answer("error", error));
    }

    answer(kind, data) {
      const event = new MessageEvent(kind, { data });
      this.dispatchEvent(event);
      this[`on${kind}`]?.(event);
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
})();
