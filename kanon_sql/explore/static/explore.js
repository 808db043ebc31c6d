"use strict";
// The page's script: it enters, sends the forms, shows what comes back where it belongs, and asks again while something runs.
(() => {
  const find = (selector) => selector ? document.querySelector(selector) : null, own = sessionStorage;  // of this tab and this port alone
  let base = "";  // the address of this page's answers
  const turns = new Map();  // per place, the number of what was asked last: older answers are dropped

  const send = async (path, fields) => {
    const headers = own.getItem("key") === null ? {} : { "X-Kanon-Key": own.getItem("key") };
    const asked = fields === undefined ? { headers } : { headers, method: "POST", body: new URLSearchParams(fields) };
    try {
      const answer = await fetch(path.startsWith("/") ? path : base + path, asked);
      return { status: answer.status, text: await answer.text(), file: /filename="([^"]*)"/.exec(answer.headers.get("content-disposition"))?.[1] };
    } catch {
      return { status: 0, text: '<ul class="problems"><li>The server does not answer. If it was ended, start kanon-sql explore again and open the address that it prints.</li></ul>' };
    }
  };

  const show = (place, html) => {
    place.innerHTML = html;
    place.dispatchEvent(new CustomEvent("shown", { bubbles: true }));
    const started = place.querySelector("[data-reload]");
    if (started) location.reload();
    const told = place.querySelector("[data-warnings]");
    if (told) { find("#warnings")?.replaceChildren(...told.childNodes); told.remove(); }
    const short = find("#answer [data-short]");
    if (short) {
      const warned = document.querySelectorAll("#warnings li, #row-warnings li").length;
      const stops = find("#row-warnings [data-stops]") !== null;
      if (stops) {  // what is found in the rows goes before what the search said
        const [badge, words] = find("#answer .verdict h2").childNodes;
        badge.className = "badge fail";
        badge.textContent = "FAIL";
        words.textContent = ` ${find("#row-warnings [data-stops]").dataset.stops}`;
      }
      find("#short").textContent = stops ? "FAIL: publishing would stop" : `${short.dataset.short}${warned ? `; ${warned} ${warned === 1 ? "warning" : "warnings"}` : ""}`;
    }
    if (place.querySelector("[data-more]")) ask("more", undefined, find("#more"), find("#more"));
    if (place.id === "more" && find("#row-warnings [data-look]")) look();
  };
  const look = () => ask("warnings", undefined, find("#row-warnings"), find("#row-warnings"));

  // Ask, and show the answer in a place once there is one; what is wrong is shown in another.
  const ask = async (path, fields, place, wrong) => {
    const turn = (turns.get(place.id) ?? 0) + 1, isLast = () => turns.get(place.id) === turn;
    turns.set(place.id, turn);
    place.setAttribute("aria-busy", "true");
    if (place.id === "answer" && find("#short").textContent) find("#short").textContent = "Counting; the answer below is of earlier settings";
    let answer = await send(path, fields), waited = null;
    while (isLast() && answer.status === 202) {
      if (waited === null) {
        waited = document.createElement("div");
        waited.className = "meanwhile";
        place.prepend(waited);
      }
      const held = waited.contains(document.activeElement);
      waited.innerHTML = answer.text;
      if (held) waited.querySelector("button")?.focus();
      const job = waited.querySelector("[data-job]").dataset.job;
      await new Promise((done) => setTimeout(done, 300));
      answer = await send(job);
    }
    waited?.remove();
    if (!isLast()) return false;
    place.removeAttribute("aria-busy");
    const right = answer.status === 200;
    if (wrong !== place) wrong.innerHTML = right ? "" : answer.text;
    if (right || wrong === place) show(place, answer.text);
    return right;
  };

  // A file goes through the script, since a link would not send the key.
  const save = async (path) => {
    const answer = await send(path);
    if (answer.status !== 200) { problems.innerHTML = answer.text; return; }
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([answer.text], { type: "application/octet-stream" }));
    link.download = answer.file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  };

  let controls = null, problems = null;
  const fields = (added) => {
    const all = [...new FormData(controls)].filter(([name]) => added || !name.startsWith("add."));
    const rules = controls.querySelectorAll('[name^="rule."]');
    const same = new Set([...rules].filter((rule) => rule.value === rule.defaultValue).map((rule) => rule.name));
    return all.filter(([name]) => !same.has(name));
  };
  let stale = false;  // the form is to be renewed with the next answer, whichever move that one is to
  let edits = 0;  // a form that was changed since it was sent is not replaced: the change would be lost
  const moved = async (redraw, added, as = fields(added)) => {
    const sent = edits;
    stale ||= redraw;
    const right = await ask("ask", as, find("#answer"), problems);
    steps();
    const seen = find("#answer [data-about]")?.dataset, own = controls.elements;
    if (right && (seen?.about !== own.about.value || seen?.revision !== own.revision.value)) stale = true;  // changed elsewhere
    if (right && (stale || controls.querySelector('input[name^="lowest."]'))) stale = !await renew(sent);
  };
  // The form is drawn again: requirements or roles came or went, or levels have names now; what is open, searched and has the focus stays so.
  let renewals = 0;
  const renew = async (sent) => {
    if (edits !== sent) return false;
    const turn = renewals += 1;
    const answer = await send("controls");
    if (answer.status !== 200 || edits !== sent || turn !== renewals) return false;
    const focus = document.activeElement?.id, searched = find("#column-filter")?.value;
    const open = new Set([...controls.querySelectorAll("details[open]")].map((item) => item.dataset.key));
    controls.innerHTML = answer.text;
    controls.querySelectorAll("details").forEach((item) => { item.open = open.has(item.dataset.key); });
    const filter = find("#column-filter");
    if (filter && searched) { filter.value = searched; filter.dispatchEvent(new Event("input", { bubbles: true })); }
    if (focus) document.getElementById(focus)?.focus();
    const drawn = find("#tree-column").value;
    find("#tree-column").replaceChildren(...find("#drawable").content.cloneNode(true).children);
    if ([...find("#tree-column").options].some((option) => option.value === drawn)) find("#tree-column").value = drawn;
    find("#tree-tool").hidden = find("#tree-column").options.length === 0;
    return true;
  };

  // --- What changes the controls from outside: each is sent once the controls' own last change is ---

  let chosen;  // the role of a column that is not sent yet
  let soon = null;  // the change of a control that is not sent yet
  const settled = async () => {
    if (soon === null) return true;
    clearTimeout(soon);
    soon = null;
    const answer = await send("ask", fields(false));
    if (answer.status > 202) problems.innerHTML = answer.text;
    return answer.status <= 202;
  };
  const redrawn = async () => {
    stale = !await renew(edits);
    learn();  // of a candidate with another source
    await moved(false, false, []);  // of what the server has: the form may be of before
  };
  const steps = async (answer) => {
    const found = answer ?? await send("history");
    if (found.status !== 200) return;
    const place = find("#history"), focus = place.contains(document.activeElement) ? document.activeElement.id : null;
    place.innerHTML = found.text;
    if (focus) document.getElementById(focus)?.focus();
    const words = place.querySelector("[data-said]").textContent;
    if (answer) find("#step-said").textContent = words;
  };
  const step = async (way) => {
    if (!await settled()) return;
    const answer = await send(`step/${way}`, []);
    if (answer.status !== 200) { problems.innerHTML = answer.text; return; }
    find("#effects").replaceChildren();
    await steps(answer);
    await redrawn();
  };
  const change = async (column, role, was, drop) => {
    if (!await settled()) return;
    const place = find("#effects"), given = [["column", column], ["role", role], ["drop", drop ? "1" : "0"]];
    find("#step-said").textContent = "";
    if (was !== null) given.push(["was", was]);
    const right = await ask("role", given, place, problems);
    if (right && place.querySelector("[data-changed]")) await redrawn();
    else await renew(edits);  // the control shows the role that the column has
  };

  // A hierarchy out of its kind and its steps, as a spec writes it.
  const build = (column) => {
    const field = (name) => document.getElementById(`${name}.${column}`), kind = field("kind").value;
    const steps = field("steps").value.trim();
    if (kind === "" || (kind !== "none" && steps === "")) return;
    field("rule").value = kind === "none" ? "{}" : `{${kind}: [${steps}]}`;
    moved(true);
  };

  // A tree that was built stands in for a column's hierarchy; what is wrong with it is said beside it.
  document.addEventListener("used", async ({ detail }) => {
    const sent = edits;
    if (!await ask("ask", [[`tree.${detail.column}`, detail.rule]], find("#answer"), detail.wrong)) return;
    detail.done();
    steps();
    stale = !await renew(sent);
  });

  const begin = () => {
    controls.addEventListener("input", (event) => {
      if ("filter" in event.target.dataset || "role" in event.target.dataset) return;
      edits += 1;
      if ("wait" in event.target.dataset || "change" in event.target.dataset) return;
      clearTimeout(soon);
      const redraw = "redraw" in event.target.dataset;
      soon = setTimeout(() => { soon = null; moved(redraw); }, 120);
    });
    controls.addEventListener("change", (event) => {
      if ("role" in event.target.dataset) {
        const { role, was } = event.target.dataset, given = event.target;
        clearTimeout(chosen);  // arrow keys pass by other roles
        chosen = setTimeout(() => { if (given.value !== was) change(role, given.value, was, false); }, 400);
      }
      if ("build" in event.target.dataset) build(event.target.dataset.build);
      if ("change" in event.target.dataset) moved("redraw" in event.target.dataset);
    });
    controls.addEventListener("submit", (event) => { event.preventDefault(); moved(false); });
    moved(false);
    learn();
  };
  // The columns of the source, once they are known, are among the controls.
  const learn = async () => {
    let answer = await send("columns");
    while (answer.status === 202) {
      const waited = document.createElement("div");
      waited.innerHTML = answer.text;
      await new Promise((done) => setTimeout(done, 300));
      answer = await send(waited.querySelector("[data-job]").dataset.job);
    }
    if (answer.status === 200 && answer.text) stale = !await renew(edits);
  };

  document.addEventListener("submit", async (event) => {
    const form = event.target, place = find(form.dataset.into);
    if (!place) return;
    event.preventDefault();
    if (form.dataset.sure && !confirm(form.dataset.sure)) return;
    if ("settle" in form.dataset && !await settled()) return;
    const given = [...new FormData(form)];
    if ("answered" in form.dataset) given.push(["asked", find("#answer [data-asked]")?.dataset.asked ?? "nothing"]);
    if (form.dataset.get) ask(`${form.dataset.get}?${new URLSearchParams(given)}`, undefined, place, place);
    else if (await ask(form.dataset.post, given, place, find(form.dataset.wrong) ?? place) && form.dataset.wrong) form.reset();
  });

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const asked = button.dataset;
    if (asked.stop) send(asked.stop, []);
    else if (asked.file) save(asked.file);
    else if ("redraw" in asked) moved(true, true);
    else if ("ask" in asked) moved(false);
    else if ("lookNow" in asked) look();
    else if (asked.step) step(asked.step);
    else if ("roleDrop" in asked) change(asked.column, asked.roleDrop, null, true);
    else if ("close" in asked) find("#effects").replaceChildren();
    else if (asked.candidate) {
      if (asked.sure && !confirm(asked.sure)) return;
      const loads = asked.candidate.endsWith("/load");
      if (loads && !await settled()) return;
      if (await ask(asked.candidate, [], find("#kept"), find("#kept-problems")) && loads) await redrawn();
    }
    else if (asked.goOn) {
      const answer = await send("/go-on", [["page", asked.goOn]]);
      if (answer.status !== 200) { find("#earlier").innerHTML = answer.text; return; }
      own.setItem("visit", answer.text);
      location.reload();
    }
    else if ("closeEarlier" in asked) find("#earlier").replaceChildren();
    else if ("again" in asked) { await send("again", []); moved(false); }
    else if (asked.preview) {
      const rule = document.getElementById(`rule.${asked.preview}`), values = document.getElementById(`values.${asked.preview}`);
      const place = document.getElementById(`preview-${asked.preview}`);
      ask("preview", [["column", asked.preview], ["about", controls.elements.about.value], ["values", values.value], [rule.name, rule.value]], place, place);
    }
  });

  // The token behind the # is taken from the address before anything else, and is good once: it is changed for a key.
  const enter = async () => {
    const token = /^#token=(.+)$/.exec(location.hash)?.[1];
    if (token === undefined) return null;
    history.replaceState(null, "", "/");
    const entered = await send("/enter", [["token", token]]);
    if (entered.status !== 200) return entered;
    own.setItem("key", entered.text);
    own.removeItem("visit");
    return null;
  };

  let isNew = false;  // the tab has no page from before
  // What is in the page: as it was, where the tab was loaded again.
  const open = async () => {
    const refused = await enter();
    if (refused !== null && own.getItem("key") === null) return refused;
    if (own.getItem("visit") === null) {
      isNew = true;
      const made = await send("/visits", []);
      if (made.status !== 200) return made;
      own.setItem("visit", made.text);
    }
    base = own.getItem("visit");
    const page = await send("");
    if (page.status === 410) own.removeItem("visit");
    return page;
  };

  const start = async () => {
    const page = await open(), place = find("#page");
    if (page.status !== 200) {
      place.innerHTML = `<main><h1>kanon_sql explore</h1><div role="alert">${page.text}</div></main>`;
      return;
    }
    place.innerHTML = page.text;
    document.title = find("[data-title]").dataset.title;
    controls = find("#controls");
    problems = find("#problems");
    if (controls) begin();
    if (isNew) send("/earlier").then((answer) => { if (answer.status === 200 && find("#earlier")) find("#earlier").innerHTML = answer.text; });
    document.querySelectorAll("form[data-now]").forEach((form) => form.requestSubmit());
  };

  window.addEventListener("hashchange", () => { if (location.hash.startsWith("#token=")) location.reload(); });
  start();
})();
